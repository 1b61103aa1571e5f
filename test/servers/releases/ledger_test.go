package releases

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// ledger notes every term of an election, and every hold of some locks. It finds two at a time in one line, and
// a token that is not greater than the one before.
type ledger struct {
	mu    sync.Mutex
	lines map[string]*line
	wrong []string
	more  chan struct{} // closed at the next entry
}

type line struct {
	now   map[int64]string // who leads, by token
	last  int64            // token
	who   string           // had the last token
	terms int
	hands int // changes of them
}

func newLedger() *ledger { return &ledger{lines: map[string]*line{}, more: make(chan struct{})} }

// begins notes that somebody leads in a line, until the function that it returns is called, once or more.
func (l *ledger) begins(name, who string, token int64) (ends func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.lines[name]
	if in == nil {
		in = &line{now: map[int64]string{}}
		l.lines[name] = in
	}
	for other, holder := range in.now {
		l.wrong = append(l.wrong,
			fmt.Sprintf("%s: %s with token %d and %s with token %d at a time", name, holder, other, who, token))
	}
	if token < in.last || token == in.last && who != in.who {
		l.wrong = append(l.wrong, fmt.Sprintf("%s: token %d of %s after %d of %s", name, token, who, in.last, in.who))
	}
	if in.terms++; who != in.who {
		in.hands++
	}
	in.now[token], in.last, in.who = who, token, who
	close(l.more)
	l.more = make(chan struct{})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(in.now, token)
	}
}

// hands returns how often each line has changed hands, and what is closed at the next entry.
func (l *ledger) hands() (of map[string]int, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of = map[string]int{}
	for name, in := range l.lines {
		of[name] = in.hands
	}
	return of, l.more
}

// faults returns what was wrong.
func (l *ledger) faults() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.wrong...)
}

func TestTheLedgerFindsFaults(t *testing.T) {
	l := newLedger()
	l.begins("line", "a", 5)()
	l.begins("line", "a", 5)() // the same place again
	ends := l.begins("line", "b", 6)
	l.begins("lock", "c", 3)
	if wrong := l.faults(); len(wrong) > 0 {
		t.Fatalf("found %q where nothing is wrong", wrong)
	}
	l.begins("line", "c", 7)()
	ends()
	l.begins("line", "d", 4)()
	l.begins("line", "a", 4)()
	want := []string{"at a time", "token 4 of d after 7 of c", "token 4 of a after 4 of d"}
	got := l.faults()
	if len(got) != len(want) {
		t.Fatalf("found %q", got)
	}
	for i, part := range want {
		if !strings.Contains(got[i], part) {
			t.Errorf("%q does not say %q", got[i], part)
		}
	}
	if hands, _ := l.hands(); hands["line"] != 5 || hands["lock"] != 1 {
		t.Errorf("changes of hands: %v", hands)
	}
}
