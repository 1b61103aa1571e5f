//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

const (
	within = 90 * time.Second // bounds every wait; no measurement
	glance = 20 * time.Millisecond
)

// options are what a run is.
type options struct {
	seed    uint64
	long    time.Duration // of the faults
	kinds   []kind
	session time.Duration
	dir     string
}

// slot is one place for a client of each line. The first three have one server each, where all their clients are; those
// of the last may use any, and come back to another than they left.
type slot struct {
	number int
	home   *ensemble.Server // nil for any
	links  []*proxy.Link

	mu    sync.Mutex
	hired int
	hands map[kind]*hand
}

func (s *slot) servers() string {
	var addrs []string
	for _, l := range s.links {
		addrs = append(addrs, l.Addr())
	}
	return strings.Join(addrs, ",")
}

func (s *slot) all() (hands []*hand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hands {
		hands = append(hands, h)
	}
	return hands
}

// stage is everything that a run needs.
type stage struct {
	options
	t        testing.TB
	e        *ensemble.Ensemble
	clocks   *chronicle
	nursery  *nursery
	operator *zk.Conn
	slots    []*slot
	begun    time.Time

	mu     sync.Mutex
	diary  *os.File
	past   map[kind][]*hand // everybody who was ever hired
	counts map[string]int   // faults done
}

func (s *stage) terms() terms {
	return terms{session: s.session, patient: time.Duration(s.e.SyncLimit()) * s.e.Tick()}
}

// set builds the stage. Everything on it ends with the test.
func set(t testing.TB, o options, e *ensemble.Ensemble) *stage {
	t.Helper()
	s := &stage{options: o, t: t, e: e, clocks: newChronicle(t), nursery: newNursery(), begun: time.Now(),
		past: map[kind][]*hand{}, counts: map[string]int{}}
	var err error
	s.diary, err = os.Create(filepath.Join(o.dir, "diary.txt"))
	s.must(err)
	s.operator, _, err = zk.Connect(strings.Split(e.Addrs(), ","), 10*o.session, zk.WithDialer(realzk.Dial),
		zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	s.must(err)
	t.Cleanup(s.strike)
	s.make(root)
	for _, k := range o.kinds {
		s.make(k.path())
		for part := range k.parts() {
			s.make(k.part(part).written())
		}
	}
	leader, followers := e.Whole()
	for i, home := range []*ensemble.Server{followers[0], leader, followers[1], nil} {
		to := e.Servers()
		if home != nil {
			to = []*ensemble.Server{home}
		}
		one := &slot{number: i, home: home, hands: map[kind]*hand{}}
		for _, server := range to {
			link, err := proxy.New(server.Addr())
			s.must(err)
			one.links = append(one.links, link)
		}
		s.slots = append(s.slots, one)
	}
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// make makes a directory, trying again while servers find each other.
func (s *stage) make(path string) {
	s.t.Helper()
	s.until("a directory "+path, within, func() bool {
		_, err := s.operator.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		return err == nil || err == zk.ErrNodeExists
	})
}

// holdsWithin waits until something holds, and reports whether it did in time.
func (s *stage) holdsWithin(long time.Duration, holds func() bool) bool {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for end := time.Now().Add(long); !holds(); <-ticker.C { // pause: between looks at other processes
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func (s *stage) until(what string, long time.Duration, holds func() bool) {
	s.t.Helper()
	if !s.holdsWithin(long, holds) {
		s.t.Fatalf("this did not happen: %s", what)
	}
}

// note writes into the diary what happens, as it does.
func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.diary, "%8.3f %d  %s\n", time.Since(s.begun).Seconds(), monotonic(), fmt.Sprintf(format, args...))
}

func (s *stage) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

// staff hires a client for every line in a slot, all in one process, and has them rotate, or not.
func (s *stage) staff(one *slot, word string) error {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.hired++
	chance := rand.New(rand.NewPCG(s.seed, uint64(1+one.number)<<32|uint64(one.hired)))
	var all []orders
	for _, k := range s.kinds {
		id := fmt.Sprintf("s%d-%d", one.number, one.hired)
		all = append(all,
			orders{kind: k, id: id, servers: one.servers(), path: k.path(), session: s.session, tick: s.e.Tick(),
				sync: s.e.SyncLimit(), seed: chance.Uint64(), log: filepath.Join(s.dir, k.word()+"-"+id+".log")})
	}
	hands, err := hire(s.nursery, all, s.dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	for _, h := range hands {
		one.hands[h.kind] = h
		s.past[h.kind] = append(s.past[h.kind], h)
	}
	s.mu.Unlock()
	for _, h := range one.hands {
		if err := h.compare(); err != nil {
			return err
		}
		h.tell(word)
	}
	return nil
}

func (s *stage) everybody(word string) {
	for _, one := range s.slots {
		for _, h := range one.all() {
			h.tell(word)
		}
	}
}

// leader returns the slot whose client of this line believes; nil if none does.
func (s *stage) leader(k kind) *slot {
	for _, one := range s.slots {
		one.mu.Lock()
		h := one.hands[k]
		one.mu.Unlock()
		if h != nil && h.believes() {
			return one
		}
	}
	return nil
}

// strike ends everything that is left.
func (s *stage) strike() {
	s.mu.Lock()
	past := s.past
	s.mu.Unlock()
	for _, hands := range past {
		for _, h := range hands {
			h.cmd.Process.Kill()
			<-h.gone
		}
	}
	for _, one := range s.slots {
		for _, l := range one.links {
			l.Close()
		}
	}
	s.operator.Close()
	s.nursery.close()
	s.diary.Close()
}
