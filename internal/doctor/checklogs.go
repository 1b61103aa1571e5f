package doctor

import (
	"fmt"
	"time"
)

// checkLogs finds lines whose first node is older than every flight log that was given.
func checkLogs(f *Facts) []Finding {
	begin := f.settings.LogsBegin
	if begin.IsZero() {
		return nil
	}
	return f.each(func(l *Line) (all []Finding) {
		for _, p := range l.heads {
			if p.Created.IsZero() || !p.Created.Before(begin) {
				continue
			}
			all = append(all, Finding{ID: "older-than-logs", Severity: Warning, Where: nameOf(p),
				Is: fmt.Sprintf("The first node in line is of %s, and the first flight log begins at %s: none shows "+
					"how its owner came to lead.", utc(p.Created), utc(begin)),
				Do: "Give its owner's log, too; if it has none, have it record one, and keep more of it."})
		}
		return all
	})
}

func utc(t time.Time) string { return t.UTC().Format(time.DateTime + "Z") }
