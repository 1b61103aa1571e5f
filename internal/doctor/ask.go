package doctor

import (
	"context"
	"fmt"
)

// Examine asks the ensemble and judges it. It returns when all is asked, or soon after the context has ended, with what
// was answered by then. It is safe to call from anywhere.
func Examine(ctx context.Context, s Settings) Report {
	s = s.withDefaults()
	late, done := outliving(ctx, s.Leave)
	defer done()
	s.late = late
	f := gather(ctx, s)
	f.listUnasked()
	return judge(f)
}

// listUnasked lists what the servers did not say.
func (f *Facts) listUnasked() {
	const closed = "neither the four-letter words nor the admin server say it"
	for _, v := range f.servers {
		if v.cut {
			f.lacked("all of "+v.Address, v.Why)
			continue
		}
		if !v.Serves {
			f.missed("all else of "+v.Address, "it opens no session")
			continue
		}
		if v.grantsErr != "" {
			f.lacked("the shortest session timeout of "+v.Address, "it opened no further session, as where "+
				"maxClientCnxns is reached: "+v.grantsErr)
		}
		if v.mute {
			f.missed("all else of "+v.Address, "it answers no request")
			continue
		}
		if v.Version == "" {
			f.missed("the version of "+v.Address, closed)
		}
		if v.Role == "" {
			f.missed("the role of "+v.Address, closed)
		}
		if v.Settings.From == "" {
			f.missed("tickTime and syncLimit of "+v.Address, closed)
		}
		if !v.monitored && v.Role != roleStandalone {
			f.missed("whether "+v.Address+" is an observer master", "the word mntr is closed")
		}
		if v.configErr != "" {
			f.missed("the ensemble's configuration, at "+v.Address, v.configErr)
		}
	}
	for _, l := range f.lines {
		if l.cut {
			f.lacked("the line "+l.Path, l.Why)
		}
		if l.Why != "" {
			continue
		}
		if l.MayCreate == nil {
			f.missed("whether this client may create and delete in "+l.Path, l.untried)
		}
		if !l.Missing && l.ACL == nil {
			f.missed("the access list of "+l.Path, "this client may not read it")
		}
		if l.unread > 0 {
			f.missed(fmt.Sprintf("%d participants of %s", l.unread, l.Path), fmt.Sprintf("only %d are read", maxRead))
		}
	}
	if f.ended != nil {
		f.lacked("what comes after that", "the examination was ended: "+text(f.ended))
	}
}
