package program

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// firstProgress is after which time of silence why says how far it is. Each further line comes after twice that time.
const firstProgress = 2 * time.Second

// progress says how far why is, on a terminal.
type progress struct {
	records atomic.Int64 // that were read
	ended   atomic.Bool  // all were
}

// begin says from time to time how far it is, until the function that it returns is called.
func (p *progress) begin(say func(string)) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for pause := firstProgress; ; pause *= 2 {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
				say(p.text())
			case <-stop:
				timer.Stop()
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}

func (p *progress) text() string {
	if records := cli.Plural(int(p.records.Load()), "record"); !p.ended.Load() {
		return fmt.Sprintf("reading: %s so far", records)
	} else {
		return fmt.Sprintf("explaining %s", records)
	}
}
