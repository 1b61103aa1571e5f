package doctor

import "context"

// Examine asks the ensemble and judges it. It returns when all is asked, or soon after the context has ended, with what
// was answered by then. It is safe to call from anywhere.
func Examine(ctx context.Context, s Settings) Report {
	f := gather(ctx, s.withDefaults())
	f.listUnasked(ctx)
	return judge(f)
}

// listUnasked lists what the servers did not say.
func (f *Facts) listUnasked(ctx context.Context) {
	const closed = "neither the four-letter words nor the admin server say it"
	for _, v := range f.servers {
		if !v.Serves {
			f.missed("all else of "+v.Address, "it opens no session")
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
	if cause := context.Cause(ctx); cause != nil {
		f.missed("what comes after that", "the examination was ended: "+text(cause))
	}
}
