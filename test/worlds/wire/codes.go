package wire

import (
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// codesOfNothing are codes that do not say whether a write was carried out. The last has no name. CONNECTIONLOSS is not
// among them, because checks of logs take it for the end of a connection.
var codesOfNothing = []zkmem.Code{-1, -2, -3, -5, -7, -13, -122, -9999}

// attaches counts the handshakes of each session.
type attaches struct {
	mu    sync.Mutex
	times map[int64]int
}

// of returns how often a session was attached to a connection.
func (a *attaches) of(session int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.times[session]
}

// note counts a handshake.
func (a *attaches) note(session int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.times == nil {
		a.times = map[int64]int{}
	}
	a.times[session]++
}

// answerByCodes has the server answer some writes by a code that says nothing: they were carried out, or not. Some
// creates of places are carried out later, when the client may have given them up, but never on a later connection of
// the
// session: what the leader has of the earlier one comes before it.
func (w *world) answerByCodes(r zkmem.Request) zkmem.Verdict {
	if r.Op == zkmem.OpCreateSession {
		w.attaches.note(r.Session)
		return zkmem.Verdict{}
	}
	if r.Op == zkmem.OpSASL {
		return w.refuseLogins(r)
	}
	if !w.storming() || !needsEnsemble(int(r.Op)) {
		return zkmem.Verdict{}
	}
	d := w.dice.named("code").about(uint64(r.Session), uint64(r.Xid))
	if !d.chance(w.plan.misreports) {
		return zkmem.Verdict{}
	}
	verdict := zkmem.Verdict{Action: zkmem.Misreport, Code: codesOfNothing[d.named("which").below(len(codesOfNothing))]}
	line := strings.HasPrefix(r.Path, lineDir+"/") || strings.HasPrefix(r.Path, lockDir+"/")
	creates := r.Op == zkmem.OpCreate || r.Op == zkmem.OpCreate2
	if how := d.named("how").below(3); line && creates && how > 0 {
		verdict.Action = zkmem.Refuse
		attached := w.attaches.of(r.Session)
		time.AfterFunc(d.named("late").between(0, w.plan.timeout/2), func() {
			if w.attaches.of(r.Session) != attached {
				return
			}
			_, _ = w.srv.DoFor(r.Session, zkmem.Op{Code: zkmem.OpCreate2, Path: r.Path, Mode: zkmem.EphemeralSequential,
				ACL: zkmem.OpenACL()})
		})
	}
	w.tell("%s %s is answered by %d, action %d", r.Op, r.Path, verdict.Code, verdict.Action)
	return verdict
}
