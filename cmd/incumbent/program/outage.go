package program

import (
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// outage prints why there is no connection: each reason once when it comes up, and the present
// one once a minute.
type outage struct {
	note   func(format string, args ...any)
	reason func() string // "": there is a connection

	seen  map[string]bool // in this outage
	again time.Time       // when the present reason is printed again
}

// How often the reason is looked at and printed again, and how many reasons of one outage are
// printed when they come up.
const (
	outageLook  = time.Second
	outageAgain = time.Minute
	maxReasons  = 16
)

// look prints the reason, if it is time for it.
func (o *outage) look(now time.Time) {
	why := o.reason()
	if why == "" {
		o.seen, o.again = nil, time.Time{}
		return
	}
	switch {
	case o.seen == nil: // it is printed when the outage begins
		o.seen, o.again = map[string]bool{why: true}, now.Add(outageAgain)
		return
	case !o.seen[why] && len(o.seen) < maxReasons:
		o.seen[why] = true
	case now.Before(o.again):
		return
	}
	o.again = now.Add(outageAgain)
	o.note("still not connected: %s", why)
}

// reportOutages prints why there is no connection until stop is called.
func (e *elector) reportOutages() (stop func()) {
	end, over := make(chan struct{}), make(chan struct{})
	o := outage{note: e.Note, reason: func() string {
		switch e.client.Connection() {
		case incumbent.Suspended, incumbent.Lost:
			return connectionTrouble(e.client)
		}
		return ""
	}}
	go func() {
		defer close(over)
		tick := time.NewTicker(outageLook)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				o.look(now)
			case <-end:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-over
	})
}
