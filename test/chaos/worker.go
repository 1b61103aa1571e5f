//go:build linux

package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How a client works. Java's does the same: see java/Candidate.java.
const (
	lookEvery  = 2 * time.Millisecond  // at what it believes
	holdsEvery = 50 * time.Millisecond // a belief that goes on is told, for the case that the process is killed
	saveEvery  = 60 * time.Millisecond
	dwell      = 20 * time.Millisecond // between asking whether it leads, and saving: work takes time
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
	store   string
	seed    uint64 // of how long its terms are
	log     string // the flight recorder's file
}

func (o orders) String() string {
	return fmt.Sprintf("%s|%s|%s|%s|%d|%d|%d|%s|%d|%s", o.kind, o.id, o.servers, o.path, o.session.Milliseconds(),
		o.tick.Milliseconds(), o.sync, o.store, o.seed, o.log)
}

func parseOrders(text string) (o orders, err error) {
	words := strings.Split(text, "|")
	if len(words) != 10 {
		return o, fmt.Errorf("orders of %d words", len(words))
	}
	var session, tick int64
	o.kind, o.id, o.servers, o.path, o.store, o.log = kind(words[0]), words[1], words[2], words[3], words[7], words[9]
	_, err = fmt.Sscan(strings.Join([]string{words[4], words[5], words[6], words[8]}, " "), &session, &tick, &o.sync, &o.seed)
	o.session, o.tick = time.Duration(session)*time.Millisecond, time.Duration(tick)*time.Millisecond
	return o, err
}

// noToken is held by those whose code has no token, or does not say it together with its belief.
const noToken = -1

// tokenless returns what a client without a token holds.
func tokenless(holds bool) int64 {
	if holds {
		return noToken
	}
	return 0
}

// candidate takes part in a line, by whosever code.
type candidate interface {
	// holding returns what the code says, at this instant, that it holds: the token, or no token where there is none; zero
	// if it says that it holds nothing.
	holding() int64
	// run leads term after term, and has w.term do each one's work, until the end.
	run(w *worker)
	// leave leaves the line and closes everything.
	leave() error
}

// worker is one client. It tells on standard output, each line after the word of its kind and with times of the monotonic
// clock: "clock NOW"; "leads T TOKEN", "holds T", "stops T"; "call VERB VALUE T" and "heard ok|stale VALUE T"; "writes N T"
// and "wrote N ok|refused|unknown T"; "done TOKEN ITEM T"; "busy", "idle"; "left". It is told on standard input, after the same
// word: "clock", "hold" (give up no leadership any more), "rotate", "leave". The end of its input is its end.
type worker struct {
	orders
	candidate
	chance *rand.Rand
	hold   atomic.Bool
	ending chan struct{}
	ended  chan struct{}
	writes atomic.Int64
	conn   net.Conn
	in     *bufio.Scanner
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
	w := &worker{orders: o, out: out, chance: rand.New(rand.NewPCG(o.seed, 1)), ending: make(chan struct{}), ended: make(chan struct{})}
	var err error
	if w.conn, err = net.Dial("tcp", o.store); err != nil {
		return nil, err
	}
	w.in = bufio.NewScanner(w.conn)
	fmt.Fprintf(w.conn, "hello %s %s\n", o.kind.word(), o.id)
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
	held, last, told := int64(0), int64(0), int64(0)
	for range ticker.C { // pause: the interval of the samples
		before := monotonic()
		holds := w.holding()
		after := monotonic()
		if held != 0 && holds != held {
			w.say("stops %d", last)
			held = 0
		}
		switch {
		case holds == 0:
		case held == 0:
			w.say("leads %d %d", after, holds)
			held, last, told = holds, after, after
		default:
			last = before
			if last-told > int64(holdsEvery) {
				w.say("holds %d", last)
				told = last
			}
		}
	}
}

// long returns how long the next term is to be: some end soon, most last until something happens.
func (w *worker) long() time.Duration {
	if w.chance.IntN(5) < 2 {
		return 150*time.Millisecond + time.Duration(w.chance.Int64N(int64(w.session/4)))
	}
	if !slices.Contains(latches, w.kind) && w.kind.promised() { // locks are held for shorter
		return w.session/4 + time.Duration(w.chance.Int64N(int64(2*w.session)))
	}
	return w.session + time.Duration(w.chance.Int64N(int64(5*w.session)))
}

// term is the work of one term: load the number, and count it up until leadership ends, or until it has been held for long
// enough. Over may be nil. It returns whether leadership is to be given up.
func (w *worker) term(believes func() bool, token int64, over <-chan struct{}) (yield bool) {
	enough := time.NewTimer(w.long())
	defer enough.Stop()
	value, err := w.ask(load, token, 0)
	if err != nil {
		select { // a term whose token the store refuses is about to end
		case <-over:
		case <-w.ending:
		case <-time.After(again):
		}
		return false
	}
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for tired := false; ; {
		select {
		case <-over:
			return false
		case <-w.ending:
			return true
		case <-enough.C:
			tired = true
		case <-ticker.C:
		}
		if tired && !w.hold.Load() {
			return true
		}
		if !believes() {
			return false
		}
		<-time.After(dwell) // pause: the work between belief and save takes that long
		if value, err = w.ask(save, token, value+1); err != nil {
			return false
		}
	}
}

var errStale = errors.New("the store refuses the token")

// ask asks the store, and tells both when it asks and what it hears.
func (w *worker) ask(v verb, token, value int64) (int64, error) {
	w.say("call %s %d %d", v, value, monotonic())
	if _, err := fmt.Fprintf(w.conn, "%s %d %d\n", v, token, value); err != nil {
		return 0, err
	}
	if !w.in.Scan() {
		return 0, io.ErrUnexpectedEOF
	}
	var word string
	fmt.Sscan(w.in.Text(), &word, &value)
	w.say("heard %s %d %d", word, value, monotonic())
	if word != "ok" {
		return 0, errStale
	}
	return value, nil
}

// stay is a term without a store: it waits until leadership ends, or until it has been held for long enough.
func (w *worker) stay(over <-chan struct{}) {
	enough := time.NewTimer(w.long())
	defer enough.Stop()
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for tired := false; !tired || w.hold.Load(); {
		select {
		case <-over:
			return
		case <-w.ending:
			return
		case <-enough.C:
			tired = true
		case <-ticker.C:
		}
	}
}

// rest waits for a while, or for the end.
func (w *worker) rest(long time.Duration) {
	select {
	case <-w.ending:
	case <-time.After(long):
	}
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

// awaits waits until a belief is as wanted, or the end.
func (w *worker) awaits(believes func() bool, want bool) bool {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for believes() != want {
		select {
		case <-ticker.C:
		case <-w.ending:
			return false
		}
	}
	return true
}
