package elasticjob

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// within bounds every wait. It is no measurement.
const within = repeat.Enough

const (
	namespace = "space"
	jobName   = "job"
)

// saying is one line that an instance printed.
type saying struct {
	by    string // the instance's id
	words []string
}

// stage is a server with one job, the job's instances, and what they have printed, in the order in which it was
// read.
type stage struct {
	t          testing.TB
	generation *generation
	addr       string
	namespace  string
	timeout    time.Duration // of the instances' sessions
	period     time.Duration // of the job
	length     time.Duration // of a run of an item
	total      int           // of items
	conn       *zk.Conn
	instances  []*instance
	cutOff     map[string]bool // ids of instances whose session was ended, or that were closed
	disabled   map[string]bool // addresses of servers
	begun      time.Time       // of the last step
	owners     owners
	judged     map[[2]run]bool // two runs of an item at a time: whether that is no fault
	leftOut    int64           // the whole period since which a leader in Java has left an instance out
	reminders  int             // how often the test set the flag that such a leader had deleted
	reminded   bool            // it did that in this step

	mu   sync.Mutex
	said []saying
	more chan struct{}
}

func newStage(t testing.TB, addr string, g *generation) *stage {
	t.Helper()
	g.classPath(t)
	s := &stage{
		t: t, generation: g, addr: addr, namespace: namespace,
		timeout: 4 * time.Second, period: 2 * time.Second, length: 300 * time.Millisecond, total: 5,
		cutOff: map[string]bool{}, disabled: map[string]bool{}, more: make(chan struct{}),
		judged: map[[2]run]bool{},
	}
	s.conn = s.connect()
	t.Cleanup(s.conn.Close)
	s.watchOwners()
	return s
}

// connect returns a connection of the test's own.
func (s *stage) connect() *zk.Conn {
	s.t.Helper()
	conn, _, err := zk.Connect([]string{s.addr}, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(mute{}))
	ok(s.t, err)
	return conn
}

type mute struct{}

func (mute) Printf(string, ...any) {}

// add adds an instance that does not run yet.
func (s *stage) add(k kind) *instance {
	s.t.Helper()
	link, err := proxy.New(s.addr)
	ok(s.t, err)
	n := 1
	for _, i := range s.instances {
		if i.kind == k {
			n++
		}
	}
	ip := fmt.Sprintf("10.0.0.%d", len(s.instances)+1)
	i := &instance{stage: s, kind: k, name: fmt.Sprintf("%c%d", k, n), ip: ip, link: link}
	s.instances = append(s.instances, i)
	s.t.Cleanup(func() { i.kill(); link.Close() })
	return i
}

// cron is the job's schedule.
func (s *stage) cron() string { return fmt.Sprintf("0/%d * * * * ?", int(s.period.Seconds())) }

// node returns the path of a node of the job.
func (s *stage) node(names ...string) string {
	return "/" + s.namespace + "/" + jobName + "/" + strings.Join(names, "/")
}

// errors returns where an instance's errors go: to a file that a failed test shows.
func (s *stage) errors(i *instance) io.Writer {
	file, err := os.OpenFile(filepath.Join(s.t.TempDir(), i.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ok(s.t, err)
	s.t.Cleanup(func() {
		file.Close()
		if text, err := os.ReadFile(file.Name()); s.t.Failed() && err == nil && len(text) > 0 {
			s.t.Logf("%s wrote to standard error:\n%s", i.name, text[max(0, len(text)-4000):])
		}
	})
	return file
}

func (s *stage) hear(id, line string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, saying{id, words})
	close(s.more)
	s.more = make(chan struct{})
}

// now returns the position after everything that was read so far.
func (s *stage) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.said)
}

// await waits for the first saying from a position on for which wanted holds.
func (s *stage) await(from int, what string, wanted func(saying) bool) {
	s.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for at := from; ; at++ {
		s.mu.Lock()
		for at >= len(s.said) {
			more := s.more
			s.mu.Unlock()
			select {
			case <-more:
			case <-deadline.C:
				s.t.Fatalf("gave up waiting for %s.\n%s", what, s.picture())
			}
			s.mu.Lock()
		}
		said := s.said[at]
		s.mu.Unlock()
		if strings.Join(said.words, " ") == "ended by itself" {
			s.t.Fatalf("%s ended while the test waited for %s", s.called(said.by), what)
		}
		if wanted(said) {
			return
		}
	}
}

// get returns a node's data, and whether it exists.
func (s *stage) get(path string) (string, bool) {
	s.t.Helper()
	data, _, err := s.conn.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return "", false
	}
	ok(s.t, err)
	return string(data), true
}

// untilGone waits until a node does not exist.
func (s *stage) untilGone(path string) {
	s.t.Helper()
	for deadline := time.After(within); ; {
		there, _, changed, err := s.conn.ExistsW(path)
		ok(s.t, err)
		if !there {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("gave up waiting for the end of %s.\n%s", path, s.picture())
		}
	}
}

// leader waits for a leader that runs, and for which wanted holds.
func (s *stage) leader(what string, wanted func(*instance) bool) *instance {
	s.t.Helper()
	marker := s.node("leader", "election", "instance")
	for deadline := time.After(within); ; {
		_, _, changed, err := s.conn.ExistsW(marker)
		ok(s.t, err)
		if id, there := s.get(marker); there {
			if i := s.byID(id); i != nil && wanted(i) {
				return i
			}
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("gave up waiting for %s.\n%s", what, s.picture())
		}
	}
}

// byID returns the instance that runs under an id, nil if none does.
func (s *stage) byID(id string) *instance {
	for _, i := range s.instances {
		if i.runs() && i.id == id {
			return i
		}
	}
	return nil
}

func (s *stage) set(path, data string) {
	s.t.Helper()
	_, err := s.conn.Set(path, []byte(data), -1)
	ok(s.t, err)
}

// enable does what ElasticJob's console does to enable or disable a server.
func (s *stage) enable(i *instance, enabled bool) {
	s.t.Helper()
	word := "DISABLED"
	if enabled {
		word = map[*generation]string{newer: "ENABLED", older: ""}[s.generation]
	}
	s.disabled[i.ip] = !enabled
	s.set(s.node("servers", i.ip), word)
}

var totalCount = regexp.MustCompile(`(shardingTotalCount"?: ?)\d+`)

// setTotal does what ElasticJob's console does to change the number of items.
func (s *stage) setTotal(n int) {
	s.t.Helper()
	config, there := s.get(s.node("config"))
	if !there || !totalCount.MatchString(config) {
		s.t.Fatalf("the configuration is %q", config)
	}
	s.total = n
	s.set(s.node("config"), totalCount.ReplaceAllString(config, "${1}"+strconv.Itoa(n)))
}

// configure writes the job's configuration as an instance of ElasticJob 3.0.4 does.
func (s *stage) configure() {
	s.t.Helper()
	config := fmt.Sprintf(`cron: %s
description: ''
disabled: false
failover: true
jobName: %s
jobParameter: ''
maxTimeDiffSeconds: -1
misfire: false
monitorExecution: true
overwrite: false
reconcileIntervalMinutes: 1
shardingItemParameters: ''
shardingTotalCount: %d
staticSharding: false
`, s.cron(), jobName, s.total)
	s.create("/"+s.namespace, "")
	s.create("/"+s.namespace+"/"+jobName, "")
	s.create(s.node("config"), config)
}

func (s *stage) create(path, data string) {
	s.t.Helper()
	_, err := s.conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	ok(s.t, err)
}
