package systems

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// system is one that runs on ZooKeeper.
type system struct {
	name    string // with its version, as the tables have it
	key     string // of PART, of jars.tsv, and of its folder
	short   bool   // PART=short runs it
	members int    // of the ensemble; 1 is a standalone server
	folder  string // of its program, if that is not the key
	work    string // what it does, for the tables

	play  func(s *stage)
	races map[string]string // answers that one server may give and the other not, and why
}

func (s *system) sources() string {
	if s.folder != "" {
		return s.folder
	}
	return s.key
}

// step is what happened to a running system.
type step struct {
	name    string
	took    time.Duration // until it worked again, or the next one was elected
	outcome string        // has to be the same on both servers
}

// stage is a server with a system, and what its processes have said.
type stage struct {
	t         *testing.T
	servers   side
	classPath string
	root      string
	conn      *zk.Conn // the test's own, to the servers, not through a tap
	processes []*process
	steps     []step
	from      int  // the position at which the last fault began
	mayEnd    bool // a process may end by itself: the system has it so

	mu   sync.Mutex
	said []saying
	more chan struct{}
}

func newStage(t *testing.T, servers side, classPath string) *stage {
	t.Helper()
	s := &stage{t: t, servers: servers, classPath: classPath, root: t.TempDir(), more: make(chan struct{})}
	conn, _, err := zk.Connect(servers.addrs(), 10*time.Second, zk.WithDialer(realzk.Dial), zk.WithLogInfo(false),
		zk.WithLogger(mute{}))
	ok(t, err)
	s.conn = conn
	t.Cleanup(conn.Close)
	return s
}

type mute struct{}

func (mute) Printf(string, ...any) {}

// dir returns a folder that a process has for itself.
func (s *stage) dir(name string) string {
	s.t.Helper()
	dir := filepath.Join(s.root, name)
	ok(s.t, os.MkdirAll(dir, 0o700))
	return dir
}

// answers returns how often each answer was given through all taps.
func (s *stage) answers() map[answer]int {
	sum := map[answer]int{}
	for _, p := range s.processes {
		for _, tap := range p.taps {
			tap.mu.Lock()
			counts := maps.Clone(tap.counts)
			tap.mu.Unlock()
			for a, n := range counts {
				sum[a] += n
			}
		}
	}
	return sum
}

// faulty says of all taps whether the test breaks connections from now on.
func (s *stage) faulty(faulty bool) {
	for _, p := range s.processes {
		for _, tap := range p.taps {
			tap.setFaulty(faulty)
		}
	}
}

// note keeps a step and logs it.
func (s *stage) note(name string, took time.Duration, outcome string) {
	s.steps = append(s.steps, step{name, took.Round(10 * time.Millisecond), outcome})
	s.t.Logf("%-45s %8s  %s", name, took.Round(10*time.Millisecond), outcome)
}

// timed does a step whose outcome is what do returns.
func (s *stage) timed(name string, do func() string) {
	s.t.Helper()
	begun := time.Now()
	outcome := do()
	s.note(name, time.Since(begun), outcome)
}

// refusals is how often clients have to find no server before it is started again.
const refusals = 5

// awaitRefusals waits until the processes together have found no server for a number of times.
func (s *stage) awaitRefusals() {
	s.t.Helper()
	refused := func(p *tap) int { return p.refused }
	before := 0
	for _, p := range s.processes {
		before += p.sum(refused)
	}
	s.growth("clients to find no server", func() bool {
		sum := 0
		for _, p := range s.processes {
			sum += p.sum(refused)
		}
		return sum >= before+refusals
	})
}

// sum adds up a number of all taps of a process.
func (p *process) sum(of func(*tap) int) (sum int) {
	for _, tap := range p.taps {
		tap.mu.Lock()
		sum += of(tap)
		tap.mu.Unlock()
	}
	return sum
}

// connected notes which processes are connected, and how often they have been. The function that it returns waits
// until each of them that still runs is connected once more.
func (s *stage) connected() (again func()) {
	attached := func(p *tap) int { return p.attached }
	before := map[*process]int{}
	for _, p := range s.processes {
		if p.sum(func(p *tap) int { return len(p.lines) }) > 0 {
			before[p] = p.sum(attached)
		}
	}
	return func() {
		s.t.Helper()
		for p, times := range before {
			s.growth(p.name+" to be connected again", func() bool { return !p.runs() || p.sum(attached) > times })
		}
	}
}

// growth waits until a condition on numbers of taps holds.
func (s *stage) growth(what string, holds func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	for {
		var changes []reflect.SelectCase
		for _, p := range s.processes {
			for _, tap := range p.taps {
				tap.mu.Lock()
				changes = append(changes, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(tap.more)})
				tap.mu.Unlock()
			}
		}
		if holds() {
			return
		}
		changes = append(changes, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())})
		if chosen, _, _ := reflect.Select(changes); chosen == len(changes)-1 {
			s.t.Fatalf("gave up waiting for %s.\n%s", what, s.picture())
		}
	}
}
