package incumbent

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

// ring keeps the last records in memory, and writes them when a leadership is lost.
type ring struct {
	client  *Client
	path    string
	options RecordOptions
	header  events.Header
	wake    chan string   // receives why the records are to be written
	done    chan struct{} // closed when nothing will be written any longer

	mu      sync.Mutex
	steps   [][]events.Record // the oldest first
	records int
}

func newRing(path string, o RecordOptions, c *Client) *ring {
	r := &ring{client: c, path: path, options: o, header: header(*c.config), wake: make(chan string, 1), done: make(chan struct{})}
	go r.run()
	return r
}

// record takes a step from the loop.
func (r *ring) record(step []events.Record) {
	if len(step) == 0 {
		return
	}
	r.mu.Lock()
	r.steps = append(r.steps, slices.Clone(step))
	r.records += len(step)
	for len(r.steps) > 1 && r.records-len(r.steps[0]) >= r.options.Ring {
		r.records -= len(r.steps[0])
		r.steps[0] = nil
		r.steps = r.steps[1:]
	}
	r.mu.Unlock()
	if why := lossIn(step); why != "" {
		r.ask(why)
	}
}

func (r *ring) ask(why string) {
	select {
	case r.wake <- why:
	default: // a dump is about to be written already
	}
}

// lossIn returns why a leadership was lost in a step, "" if none was: its own end is no
// loss.
func lossIn(step []events.Record) string {
	for i := range step {
		for _, effect := range step[i].Effects {
			n, ok := effect.(events.Notify)
			if !ok || n.What != events.Stopped {
				continue
			}
			switch n.Reason {
			case events.ReasonClosed, events.ReasonResigned, events.ReasonReturned:
				continue
			}
			return fmt.Sprintf("leadership of %s was lost: %s", n.Path, n.Reason)
		}
	}
	return ""
}

// run writes dumps.
func (r *ring) run() {
	defer close(r.done)
	for why := range r.wake {
		name, err := r.save(why)
		level, text := zerolog.WarnLevel, "the last records were written"
		if err != nil {
			level, text = zerolog.ErrorLevel, "the last records could not be written"
		}
		r.client.log.log(level, text, func(e *zerolog.Event) { e.Str("why", why).Str("segment", name).Err(err) })
	}
}

func (r *ring) close() { close(r.wake) }

// save writes the records into a file of their own.
func (r *ring) save(why string) (name string, err error) {
	h := r.header
	h.Start = time.Now().UTC().Format(time.RFC3339Nano)
	dir, err := openSegments(r.path, r.options.Keep, h)
	if err != nil {
		return "", err
	}
	f, err := dir.Create(1)
	if err != nil {
		return "", err
	}
	if err := r.dump(f, why); err != nil {
		return f.Name(), errors.Join(err, f.Discard(0))
	}
	if r.options.Sync != SyncNever {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	dir.Wait()
	return f.Name(), err
}

// dump writes a log of the records.
func (r *ring) dump(w io.Writer, why string) error {
	r.mu.Lock()
	steps := slices.Clone(r.steps)
	r.mu.Unlock()
	h := r.header
	h.Dump, h.GrantedTimeout = why, int64(r.client.granted())
	if len(steps) > 0 {
		h.Before = steps[0][0].Seq - 1
	}
	out, err := events.NewWriter(w, h)
	for _, step := range steps {
		for i := range step {
			if err == nil {
				err = out.Write(step[i])
			}
		}
	}
	if err != nil {
		return err
	}
	return out.WriteEnd(why)
}

// DumpRecord writes the last records to w, as a flight log, if RecordOptions.Ring is set.
// Its error is w's. A log that begins in the middle is printed by incumbent replay
// --print, and not compared.
func (c *Client) DumpRecord(w io.Writer) error {
	c.opened()
	if c.ring == nil {
		return errors.New("incumbent: DumpRecord needs a Config.Record by RecordIn with RecordOptions.Ring")
	}
	if err := c.ring.dump(w, "asked for"); err != nil {
		return fmt.Errorf("incumbent: DumpRecord: %w", err)
	}
	return nil
}

// SaveRecord does the same as DumpRecord, into a new file of the directory of RecordIn. It
// returns the file's path.
func (c *Client) SaveRecord(why string) (string, error) {
	c.opened()
	if c.ring == nil {
		return "", errors.New("incumbent: SaveRecord needs a Config.Record by RecordIn with RecordOptions.Ring")
	}
	return c.ring.save(why)
}
