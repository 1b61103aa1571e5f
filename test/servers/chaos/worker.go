//go:build linux

package chaos

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How a client works.
const (
	lookEvery  = 2 * time.Millisecond  // at what it believes
	holdsEvery = 50 * time.Millisecond // a belief that goes on is told, for the case that the process is killed
	again      = 50 * time.Millisecond
)

// job, in the environment, turns the test binary into a client: what orders says.
const job = "INCUMBENT_CHAOS_CLIENT"

// orders are what a client is told when it is hired.
type orders struct {
	kind    kind
	id      string
	servers string
	path    string
	session time.Duration
	tick    time.Duration
	sync    int
	seed    uint64 // of how long its terms are
	log     string // the flight recorder's file
}

func (o orders) String() string {
	return fmt.Sprintf("%s|%s|%s|%s|%d|%d|%d|%d|%s", o.kind, o.id, o.servers, o.path, o.session.Milliseconds(),
		o.tick.Milliseconds(), o.sync, o.seed, o.log)
}

func parseOrders(text string) (o orders, err error) {
	words := strings.Split(text, "|")
	if len(words) != 9 {
		return o, fmt.Errorf("orders of %d words", len(words))
	}
	var session, tick int64
	o.kind, o.id, o.servers, o.path, o.log = kind(words[0]), words[1], words[2], words[3], words[8]
	_, err = fmt.Sscan(strings.Join([]string{words[4], words[5], words[6], words[7]}, " "), &session, &tick,
		&o.sync, &o.seed)
	o.session, o.tick = time.Duration(session)*time.Millisecond, time.Duration(tick)*time.Millisecond
	return o, err
}

// noToken is held by leaders: they believe before their work learns the token.
const noToken = -1

// candidate takes part in a line.
type candidate interface {
	// holding returns what the library says, at this instant, that it holds of a part of what the line is for, a shard
	// or all: the token, or no token of a leader; zero if it says that it holds nothing.
	holding(part int) int64
	// run leads term after term, and has w.term be each one's work, until the end.
	run(w *worker)
	// leave leaves the line and closes everything.
	leave() error
}

// worker is one client. It tells on standard output, each line after the word of its kind and with times of the
// monotonic clock: "clock NOW"; "leads T TOKEN PART", "holds T PART", "stops T PART"; "writes N T PART" and
// "wrote N ok|refused|unknown T"; "done TOKEN ITEM T"; "busy", "idle"; "left". It is told on standard input, after the
// same word: "clock", "hold" (give up no leadership any more), "rotate", "leave". The end of its input is its end.
type worker struct {
	orders
	candidate
	chance *rand.Rand
	hold   atomic.Bool
	ending chan struct{}
	ended  chan struct{}
	writes atomic.Int64
	out    *printer
}

// printer prints whole lines, for all workers of a process.
type printer struct {
	mu sync.Mutex
	to io.Writer
}

func (w *worker) say(format string, args ...any) {
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	fmt.Fprintf(w.out.to, w.kind.word()+" "+format+"\n", args...)
}

// work runs a client process, which is started with these orders: a line for each of its clients.
func work(text string) error {
	workers, out := map[string]*worker{}, &printer{to: os.Stdout}
	for _, line := range strings.Split(text, "\n") {
		o, err := parseOrders(line)
		if err != nil {
			return err
		}
		if workers[o.kind.word()], err = employ(o, out); err != nil {
			return err
		}
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		who, word, _ := strings.Cut(in.Text(), " ")
		if w := workers[who]; w != nil {
			w.obey(word)
		}
	}
	return nil
}

// employ starts a client.
func employ(o orders, out *printer) (*worker, error) {
	w := &worker{orders: o, out: out, chance: rand.New(&locked{from: rand.NewPCG(o.seed, 1)}),
		ending: make(chan struct{}), ended: make(chan struct{})}
	var err error
	w.hold.Store(true)
	if w.candidate, err = join(w); err != nil {
		return nil, err
	}
	go w.look()
	go func() {
		defer close(w.ended)
		w.candidate.run(w)
	}()
	return w, nil
}

// locked is a source that several goroutines use.
type locked struct {
	mu   sync.Mutex
	from rand.Source
}

func (l *locked) Uint64() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.from.Uint64()
}

// obey does what standard input says.
func (w *worker) obey(word string) {
	switch word {
	case "clock":
		w.say("clock %d", monotonic())
	case "hold", "rotate":
		w.hold.Store(word == "hold")
	case "leave":
		close(w.ending)
		go func() {
			err := w.candidate.leave()
			<-w.ended
			if err != nil {
				w.say("error %v", err)
			}
			w.say("left")
		}()
	}
}

// look looks at what is believed, and tells what is certain.
func (w *worker) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	parts := make([]seen, w.kind.parts())
	for range ticker.C { // pause: the interval of the samples
		for part := range parts {
			parts[part].look(w, part)
		}
	}
}

// seen is what was seen of the belief in one part, and told of it.
type seen struct{ held, last, told int64 }

func (s *seen) look(w *worker, part int) {
	before := monotonic()
	holds := w.holding(part)
	after := monotonic()
	if s.held != 0 && holds != s.held {
		w.say("stops %d %d", s.last, part)
		s.held = 0
	}
	switch {
	case holds == 0:
	case s.held == 0:
		w.say("leads %d %d %d", after, holds, part)
		*s = seen{holds, after, after}
	default:
		s.last = before
		if s.last-s.told > int64(holdsEvery) {
			w.say("holds %d %d", s.last, part)
			s.told = s.last
		}
	}
}

// long returns how long the next term is to be: some end soon, most last until something happens.
func (w *worker) long() time.Duration {
	if w.chance.IntN(5) < 2 {
		return 150*time.Millisecond + time.Duration(w.chance.Int64N(int64(w.session/4)))
	}
	if !slices.Contains(latches, w.kind) { // locks are held for shorter
		return w.session/4 + time.Duration(w.chance.Int64N(int64(2*w.session)))
	}
	return w.session + time.Duration(w.chance.Int64N(int64(5*w.session)))
}

// term is the work of one term: it waits until leadership ends, or until it has been held for long enough. It reports
// whether leadership is to be given up.
func (w *worker) term(over <-chan struct{}) (yield bool) {
	enough := time.NewTimer(w.long())
	defer enough.Stop()
	ticker := time.NewTicker(again)
	defer ticker.Stop()
	for tired := false; !tired || w.hold.Load(); {
		select {
		case <-over:
			return false
		case <-w.ending:
			return true
		case <-enough.C:
			tired = true
		case <-ticker.C:
		}
	}
	return true
}

// rest waits for a while, or for the end.
func (w *worker) rest(long time.Duration) {
	select {
	case <-w.ending:
	case <-time.After(long):
	}
}

// untilEnding returns a context that ends when the client is to leave.
func (w *worker) untilEnding() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-w.ending
		cancel()
	}()
	return ctx, cancel
}

// leaving reports whether the client is to leave.
func (w *worker) leaving() bool {
	select {
	case <-w.ending:
		return true
	default:
		return false
	}
}
