//go:build unix

package process

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// cyclist is set for a process that leads and resigns without a pause.
const cyclist = "INCUMBENT_TEST_CYCLIST"

// cycle records in a directory. Each time it has led, it prints how many records the log has taken. It ends
// only with an error. Each process has a line of its own: it does not wait for the node of one that was killed.
func cycle(servers, dir string) error {
	ctx := context.Background()
	line := fmt.Sprint("/line-", os.Getpid())
	c, err := incumbent.Open(ctx,
		incumbent.Config{Servers: servers,
			Record: incumbent.RecordIn(dir, incumbent.RecordOptions{Segment: 64 << 10, Keep: 128 << 10})})
	if err != nil {
		return err
	}
	for {
		l, err := c.Latch(line, incumbent.LatchOptions{})
		if err == nil {
			err = l.Start()
		}
		if err != nil {
			return err
		}
		held, err := l.Await(ctx)
		if err != nil {
			return err
		}
		held.Release()
		if err := l.Close(ctx); err != nil {
			return err
		}
		if _, err := fmt.Println("led", c.Recording().Records); err != nil {
			return err
		}
	}
}

var kills = flag.Int("kills", 0, "how many processes to kill, if not as many as test/kit/selection says")

// A process under load is killed at any moment. Its directory has a beginning of what happened, or what was kept of it,
// which replays; what is missing at the end is said.
func TestAKilledProcessLeavesABeginning(t *testing.T) {
	t.Parallel()
	srv := zkmem.Start(t)
	exe, err := os.Executable()
	ok(t, err)
	dice := rand.New(rand.NewPCG(repeat.Seed(t, 1), 1))
	many := *kills
	if many == 0 {
		many = selection.Of(t, "kills", 2, 20, 50)
	}
	several, dropped, torn, lost, records := 0, 0, 0, 0, uint64(0)
	for i := range many {
		cycles := 1 + dice.IntN(1<<dice.IntN(10))
		if i == many-1 {
			cycles = 1600 // more than the queue takes, if nothing is written
		}
		dir := t.TempDir()
		taken := kill(t, exe, cyclist+"="+srv.Addr()+" "+dir, cycles)
		runs, err := segments.Runs(dir)
		ok(t, err)
		if len(runs) != 1 {
			t.Fatalf("%d runs", len(runs))
		}
		open, end := runs[0].Opener()
		s, err := events.NewSegments(open)
		ok(t, err)
		led := 0 // according to the log
		s.Results = func(r events.Record, _ error) { led = max(led, latchNumber(r.Machine)) }
		sum, err := engine.ReplaySegments(s, 0, machines.Recipes()...)
		end()
		if err != nil || !sum.Cut && !sum.Torn {
			t.Fatalf("%d records after %d, cut %t, torn %t: %v", sum.Records, sum.After, sum.Cut, sum.Torn, err)
		}
		if sum.After+sum.Records < taken {
			t.Errorf("the log ends with record %d, and Recording said before that it had taken %d",
				sum.After+sum.Records, taken)
		}
		missing := cycles - led
		if missing > maxLost {
			t.Errorf("of %d cycles the log has none of the last %d, which the queue cannot hold: at most %d", cycles,
				missing, maxLost)
		}
		lost = max(lost, missing)
		records += sum.Records
		several += count(len(runs[0].Files) > 1)
		dropped += count(sum.After > 0)
		torn += count(sum.Torn)
		if (i+1)%100 == 0 {
			t.Logf("%d processes were killed", i+1)
		}
	}
	t.Logf("of %d processes, %d had begun another segment, %d had dropped the first, %d left a torn line, and %d "+
		"cycles at most were lost at the end; %d records replay", many, several, dropped, torn, lost, records)
	if records == 0 {
		t.Error("nothing was recorded")
	}
}

// maxLost is how many cycles may wait in the recorder's queue, which has 8 MiB: each has more than 11 records, of more
// than 544 bytes.
const maxLost = (8 << 20) / (11 * 544)

// kill starts a process, and kills it when it has led so many times. It returns how many records its log had taken
// then.
func kill(t *testing.T, exe, environment string, cycles int) (taken uint64) {
	t.Helper()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), environment)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	lines := bufio.NewReader(out)
	for range cycles {
		line, err := lines.ReadString('\n')
		if n, scan := fmt.Sscanf(line, "led %d\n", &taken); n != 1 {
			t.Fatalf("it says %q, %v, %v", line, err, scan)
		}
	}
	ok(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	return taken
}

// latchNumber returns the number of a latch's machine, such as latch-7, and 0 of others.
func latchNumber(id events.ID) (n int) {
	if _, err := fmt.Sscanf(string(id), "latch-%d", &n); err != nil {
		return 0
	}
	return n
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
