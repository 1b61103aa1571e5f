package incumbent

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

// certificateWatch says that the client's own certificate ends.
type certificateWatch struct {
	client *Client

	mu    sync.Mutex
	said  time.Time
	ended bool // the last line said that it has ended
}

// watch reads the certificate's files again and again until the client is closed, and says when it ends.
func (w *certificateWatch) watch() {
	tick := time.NewTicker(certificatePause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.client.io.ReadCertificate()
			w.check(certificateDay)
		case <-w.client.closed:
			return
		}
	}
}

// check logs that the certificate ends soon, unless that was said within this time.
func (w *certificateWatch) check(pause time.Duration) {
	name, end := w.client.io.Certificate()
	now := clock.Wall(0)
	left := end.Sub(now)
	if end.IsZero() || left > certificateWarning {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if ended := left <= 0; !w.said.IsZero() && now.Sub(w.said) < pause && ended == w.ended {
		return
	}
	w.said, w.ended = now, left <= 0
	fields := func(e *zerolog.Event) {
		e.Str("certificate", name).Str("not_after", end.UTC().Format(time.RFC3339)).Float64("days",
			float64(left/time.Hour)/24)
	}
	if left <= 0 {
		w.client.log.Log(zerolog.ErrorLevel, "the client's certificate has ended", fields)
		return
	}
	w.client.log.Log(zerolog.WarnLevel, "the client's certificate ends soon", fields)
}
