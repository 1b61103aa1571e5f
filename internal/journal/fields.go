package journal

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

// AddSession adds the number of a session and ZooKeeper's id of it, as servers and
// "incumbent status" print it.
func AddSession(e *zerolog.Event, number, id int64) {
	e.Int64("session", number)
	if id != 0 {
		e.Str("zk_session", fmt.Sprintf("0x%x", uint64(id)))
	}
}

// AddInstant adds a point in time, with milliseconds.
func AddInstant(e *zerolog.Event, key string, t time.Time) {
	e.Str(key, t.Format("2006-01-02T15:04:05.000Z07:00"))
}

// AddPause adds for how long this process did not run, if that is why.
func AddPause(e *zerolog.Event, paused time.Duration) {
	if paused > 0 {
		e.Int64("paused_ms", paused.Milliseconds())
	}
}
