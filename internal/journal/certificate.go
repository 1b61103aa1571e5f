package journal

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/clock"
)

// The log says that the client's own certificate ends from certificateWarning on: at a new connection, but not more
// than once in certificatePause, and once a day.
const (
	certificateWarning = 14 * 24 * time.Hour
	certificateDay     = 24 * time.Hour
	certificatePause   = time.Hour // and how often the files are read again
)

// Certificate says that the client's own certificate ends.
type Certificate struct {
	Log *Logger
	IO  interface {
		ReadCertificate()                               // reads its files again
		Certificate() (name string, notAfter time.Time) // the zero time: there is none
	}
	Closed <-chan struct{} // when the client is closed

	mu    sync.Mutex
	said  time.Time
	ended bool // the last line said that it has ended
}

// Watch reads the certificate's files again and again until the client is closed, and says when it ends.
func (c *Certificate) Watch() {
	tick := time.NewTicker(certificatePause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.IO.ReadCertificate()
			c.check(certificateDay)
		case <-c.Closed:
			return
		}
	}
}

// Connected logs that the certificate ends soon, at a new connection.
func (c *Certificate) Connected() { c.check(certificatePause) }

// check logs that the certificate ends soon, unless that was said within this time.
func (c *Certificate) check(pause time.Duration) {
	name, end := c.IO.Certificate()
	now := clock.Wall(0)
	left := end.Sub(now)
	if end.IsZero() || left > certificateWarning {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended := left <= 0; !c.said.IsZero() && now.Sub(c.said) < pause && ended == c.ended {
		return
	}
	c.said, c.ended = now, left <= 0
	fields := func(e *zerolog.Event) {
		e.Str("certificate", name).Str("not_after", end.UTC().Format(time.RFC3339)).Float64("days",
			float64(left/time.Hour)/24)
	}
	if left <= 0 {
		c.Log.Log(zerolog.ErrorLevel, "the client's certificate has ended", fields)
		return
	}
	c.Log.Log(zerolog.WarnLevel, "the client's certificate ends soon", fields)
}
