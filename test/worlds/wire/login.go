package wire

import "github.com/incumbent-go/incumbent/zkio/zkmem"

// The one user of all clients where the server demands a login.
const user, password = "wire", "größer"

// refuseLogins has the server refuse some tokens of logins in the storm. A session that has begun is tried again. The
// network cuts and delays the frames of logins as all others.
func (w *world) refuseLogins(r zkmem.Request) zkmem.Verdict {
	d := w.dice.named("login").about(uint64(r.Session), uint64(r.Xid), uint64(w.attaches.of(r.Session)))
	if !w.storming() || !d.chance(100) {
		return zkmem.Verdict{}
	}
	w.tell("token %d of a login is refused", r.Xid)
	return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.SessionRequiresAuth}
}
