package story

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// Compile compiles a program that uses Curator into a directory of the test's own, and returns the class path of both.
// Where there is no Curator, or no compiler, the test is skipped, or fails if everything is required.
func Compile(t testing.TB, source string) (classPath string) {
	t.Helper()
	found := peers.FindCurator(t)
	t.Log("by Curator", found.Release)
	classes := t.TempDir()
	out, err := exec.Command("javac", "-cp", found.ClassPath(), "-d", classes, source).CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return found.ClassPath(classes)
}

// curator is a Java process with LeaderLatches in it, which times them itself; its times are carried over to ours.
type curator struct {
	t     testing.TB
	watch stopwatch
	cmd   *exec.Cmd
	in    io.WriteCloser
	ended chan struct{}

	mu     sync.Mutex
	clock  chan int64
	behind time.Duration // add to a time of Java's to get one of ours
	leads  map[string]bool
	open   map[string]span
	spans  map[string][]span
}

func startCurator(t testing.TB, watch stopwatch, classPath string) *curator {
	t.Helper()
	c := &curator{t: t, watch: watch, ended: make(chan struct{}), clock: make(chan int64),
		leads: map[string]bool{}, open: map[string]span{}, spans: map[string][]span{}}
	c.cmd = exec.Command("java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath, "Belief")
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read(out)
	c.compare()
	return c
}

func (c *curator) say(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// compare finds the difference of the two clocks: the best of a few questions is off by less than half the time it
// took.
func (c *curator) compare() {
	c.t.Helper()
	best := time.Hour
	for range 20 {
		before := c.watch.at()
		c.say("clock")
		select {
		case java := <-c.clock:
			after := c.watch.at()
			if took := after - before; took < best {
				best = took
				c.mu.Lock()
				c.behind = before + took/2 - time.Duration(java)
				c.mu.Unlock()
			}
		case <-time.After(20 * time.Second):
			c.t.Fatal("Java does not tell the time")
		}
	}
	c.t.Logf("Java's clock is known to %s", (best / 2).Round(time.Microsecond))
}

func (c *curator) read(out io.Reader) {
	defer close(c.ended)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var verb, name string
		var after, by int64
		words := strings.Fields(lines.Text())
		if len(words) == 2 && words[0] == "clock" {
			fmt.Sscan(words[1], &after)
			c.clock <- after
			continue
		}
		if _, err := fmt.Sscan(lines.Text(), &verb, &name, &after, &by); err == nil {
			c.note(verb, name, time.Duration(after), time.Duration(by))
		}
	}
}

func (c *curator) note(verb, name string, after, by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	after, by = after+c.behind, by+c.behind
	c.leads[name] = verb == "leads"
	if verb == "leads" {
		c.open[name] = span{from: after, fromBy: by}
		return
	}
	s := c.open[name]
	delete(c.open, name)
	s.to, s.toBy = after, by
	c.spans[name] = append(c.spans[name], s)
}

// all returns what a latch believed so far.
func (c *curator) all(name string) []span {
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := c.spans[name]
	if s, open := c.open[name]; open {
		spans = append(spans, s.forever())
	}
	return spans
}

// javaLatch is one of the latches, as a believer. Its spans are taken from Java's own clock, not from when we hear of
// it.
type javaLatch struct {
	c    *curator
	name string
}

func (c *curator) latch(name string, w where) believer {
	c.t.Helper()
	c.say("open %s %s %d %s", name, w.servers, w.timeout.Milliseconds(), w.path)
	return javaLatch{c, name}
}

func (j javaLatch) believes() bool {
	j.c.mu.Lock()
	defer j.c.mu.Unlock()
	return j.c.leads[j.name]
}

func (javaLatch) close() {}

func (c *curator) end() {
	c.in.Close()
	<-c.ended
	c.cmd.Wait()
}
