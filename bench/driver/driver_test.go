package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/bench/machine"
	"github.com/incumbent-go/incumbent/bench/peer"
)

// fakeProgram as a variable of the environment makes the test binary a program, which is called by its value.
const fakeProgram = "BENCH_FAKE_PROGRAM"

func TestMain(m *testing.M) {
	if name := os.Getenv(fakeProgram); name != "" {
		fake(name)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake answers by what it was asked, and not by a clock: its samples are the number of its run, and N.
func fake(name string) {
	runs := 0
	prepare := func(c peer.Command) (*peer.Run, error) {
		if !strings.HasPrefix(c.Path, "/test-") {
			return nil, fmt.Errorf("the path is %s", c.Path)
		}
		runs++
		run := runs
		if c.Recipe == "fails-later" && run == 3 {
			return nil, errors.New("out of luck")
		}
		return &peer.Run{
			Go: func() (map[string][]int64, error) {
				return map[string][]int64{peer.Whole: {int64(run), int64(c.N)}}, nil
			},
			Clean: func() error { return nil },
		}, nil
	}
	if err := peer.Serve(os.Stdin, os.Stdout, name+" 1.0", prepare); err != nil {
		panic(err)
	}
}

// newDriver returns a driver of the fakes a and b. Others takes, in each round, the share of the machine that others
// take.
func newDriver(t *testing.T, log *[]string, programs ...string) *Driver {
	t.Helper()
	d := &Driver{Commands: map[string]func() *exec.Cmd{}, Root: "/test", Rounds: 3, Most: 5, Seed: 1}
	for _, name := range programs {
		d.Commands[name] = func() *exec.Cmd {
			*log = append(*log, "start "+name)
			cmd := exec.Command(os.Args[0])
			// else each ends a second later
			cmd.Env = append(os.Environ(), fakeProgram+"="+name, "GORACE=atexit_sleep_ms=0")
			return cmd
		}
	}
	d.Take = func() (machine.Snapshot, error) { return machine.Snapshot{}, nil }
	used := map[int]time.Duration{}
	d.Usage = func(pid int) (time.Duration, int64, error) {
		used[pid] += 5 * time.Millisecond
		return used[pid], int64(used[pid]), nil
	}
	d.Log = func(format string, args ...any) { *log = append(*log, fmt.Sprintf(format, args...)) }
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

var (
	a1 = Entrant{"a", "one", "A one"}
	a2 = Entrant{"a", "two", "A two"}
	b1 = Entrant{"b", "one", "B one"}
)

func TestEveryEntrantHasItsTurnInEveryRound(t *testing.T) {
	var log []string
	d := newDriver(t, &log, "a", "b")
	d.Count = map[string]func() (int64, int64){"a": counter(4, 100)}
	result, err := d.Play(context.Background(), Scenario{Name: peer.Cycle, N: 10, Entrants: []Entrant{a1, a2, b1}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Rounds) != 3 || len(result.Failed) != 0 {
		t.Fatalf("%d rounds, and failed have %v", len(result.Rounds), result.Failed)
	}
	var ofA []float64
	for i, r := range result.Rounds {
		for _, e := range []Entrant{a1, a2} {
			ofA = append(ofA, r.By[e].Samples[peer.Whole][0])
		}
		want := Measurement{CPU: 5 * time.Millisecond, Grown: int64(5 * time.Millisecond),
			RSS: int64(time.Duration(10*(i+3)) * time.Millisecond)}
		got := r.By[b1]
		if s := got.Samples[peer.Whole]; len(s) != 2 || s[0] != float64(i+3) || s[1] != 10 { // two runs were warm
			t.Errorf("round %d of b has the samples %v", i, s)
		}
		if got.CPU != want.CPU || got.Grown != want.Grown || got.RSS != want.RSS || got.Mallocs == 0 {
			t.Errorf("round %d of b is %+v, want %+v", i, got, want)
		}
	}
	slices.Sort(ofA)
	if !slices.Equal(ofA, []float64{5, 6, 7, 8, 9, 10}) {
		t.Errorf("the program with two recipes had the runs %v", ofA)
	}
	if result.Counts[a1] != (Count{4, 100}) || result.Counts[b1] != (Count{}) || len(result.Counts) != 2 {
		t.Errorf("counted were %v", result.Counts)
	}
	versions, err := d.Versions()
	if err != nil || !strings.HasPrefix(versions["a"], "a 1.0") || len(versions) != 2 {
		t.Errorf("the versions are %v, %v", versions, err)
	}
	if n := strings.Count(strings.Join(log, "\n"), "start"); n != 2 {
		t.Errorf("%d programs were started", n)
	}
}

// counter grows by so many between two looks.
func counter(requests, bytes int64) func() (int64, int64) {
	var r, b int64
	return func() (int64, int64) {
		r, b = r+requests, b+bytes
		return r, b
	}
}

func TestTheOrderChanges(t *testing.T) {
	var log []string
	d := newDriver(t, &log, "a", "b")
	d.Rounds, d.Most = 12, 12
	result, err := d.Play(context.Background(), Scenario{Name: peer.Cycle, N: 1, Entrants: []Entrant{a1, a2}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	for _, r := range result.Rounds {
		if r.By[a1].Samples[peer.Whole][0] < r.By[a2].Samples[peer.Whole][0] {
			first++
		}
	}
	if first < 2 || first > 10 {
		t.Errorf("one of two had its turn first in %d of 12 rounds", first)
	}
}

// Rounds go on until enough of them were quiet, or there were too many.
func TestNoisyRoundsAreRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		noisy         func(round int) bool
		rounds, quiet int
	}{
		"one is noisy": {func(i int) bool { return i == 1 }, 4, 3},
		"all are":      {func(int) bool { return true }, 5, 0},
		"none is":      {func(int) bool { return false }, 3, 3},
	} {
		var log []string
		d := newDriver(t, &log, "a")
		looks := 0
		d.Take = func() (machine.Snapshot, error) { // one before and one after each round
			looks++
			if looks%2 == 0 && c.noisy(looks/2-1) {
				return machine.Busy(16), nil
			}
			return machine.Busy(0), nil
		}
		result, err := d.Play(context.Background(), Scenario{Name: peer.Cycle, N: 1, Entrants: []Entrant{a1}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Rounds) != c.rounds || len(result.QuietRounds()) != c.quiet {
			t.Errorf("%s: %d rounds, %d of them quiet, want %d and %d", name, len(result.Rounds),
				len(result.QuietRounds()), c.rounds, c.quiet)
		}
	}
}

// An entrant that fails is left out with all that it had. Its program is started again for the others.
func TestAnEntrantThatFailsIsLeftOut(t *testing.T) {
	var log []string
	d := newDriver(t, &log, "a", "b")
	broken := Entrant{"b", "fails-later", "B broken"}
	result, err := d.Play(context.Background(), Scenario{Name: peer.Cycle, N: 1, Entrants: []Entrant{a1, broken}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Failed[broken]; err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("the failure is %v", err)
	}
	for i, r := range result.Rounds {
		if _, ok := r.By[broken]; ok || len(r.By) != 1 {
			t.Errorf("round %d has %v", i, r.By)
		}
	}
	again, err := d.Play(context.Background(), Scenario{Name: peer.Cycle, N: 1, Entrants: []Entrant{b1}}, 0)
	if err != nil || len(again.Failed) != 0 || again.Rounds[0].By[b1].Samples[peer.Whole][0] != 1 {
		t.Errorf("after a failure the program was not started again: %+v, %v", again, err)
	}
	if _, err := d.process("c"); err == nil {
		t.Error("a program that nobody knows was started")
	}
}

func TestAloneMeansAProcessForEachMeasurement(t *testing.T) {
	var log []string
	d := newDriver(t, &log, "a")
	result, err := d.Play(context.Background(),
		Scenario{Name: peer.Clients, N: 1, Entrants: []Entrant{a1}, Alone: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range result.Rounds {
		if got := r.By[a1].Samples[peer.Whole][0]; got != 1 {
			t.Errorf("round %d was run %v of its process", i, got)
		}
	}
	if n := strings.Count(strings.Join(log, "\n"), "start a"); n != 3 || len(d.running) != 0 {
		t.Errorf("%d processes were started, and %d run", n, len(d.running))
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	var log []string
	d := newDriver(t, &log, "a")
	ctx, cancel := context.WithCancel(context.Background())
	d.Log = func(string, ...any) { cancel() }
	result, err := d.Play(ctx, Scenario{Name: peer.Cycle, N: 1, Entrants: []Entrant{a1}}, 0)
	if err != nil || len(result.Rounds) != 1 {
		t.Errorf("%d rounds after the end of the context: %v", len(result.Rounds), err)
	}
}
