package calls

import "github.com/incumbent-go/incumbent/events"

// EndsRun reports whether a failure ends Run: it does not pass by itself.
func EndsRun(code events.Code) bool {
	switch code {
	case events.WorkFailed, events.FenceFailed, events.Unhealthy, events.DeletedAgain, events.TooSlow,
		events.Unreadable, events.JobDisabled, events.JobConfig, events.JobStrategy:
		return false
	}
	return !code.Transient()
}
