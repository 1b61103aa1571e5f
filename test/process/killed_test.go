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
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// cyclist is set for a process that leads and resigns without a pause.
const cyclist = "INCUMBENT_TEST_CYCLIST"

// cycle records in a directory, and prints a line each time it has led. It ends
// only with an error. Each process has a line of its own: it does not wait for the node of one that was killed.
func cycle(servers, dir string) error {
	ctx := context.Background()
	line := fmt.Sprint("/line-", os.Getpid())
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: servers, Record: incumbent.RecordIn(dir, incumbent.RecordOptions{Segment: 64 << 10, Keep: 128 << 10})})
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
		if _, err := os.Stdout.WriteString("led\n"); err != nil {
			return err
		}
	}
}

var kills = flag.Int("kills", 0, "how many processes to kill, if not as many as test/selection says")

// A process under load is killed at any moment. Its directory has a beginning of what happened, or what was kept of it,
// which replays; what is missing at the end is said.
func TestAKilledProcessLeavesABeginning(t *testing.T) {
	t.Parallel()
	srv := zkmem.Start(t)
	exe, err := os.Executable()
	ok(t, err)
	dice := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	many := *kills
	if many == 0 {
		many = selection.Of(t, "kills", 2, 20, 100)
	}
	several, dropped, torn, records := 0, 0, 0, uint64(0)
	for range many {
		dir := t.TempDir()
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), cyclist+"="+srv.Addr()+" "+dir)
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		lines := bufio.NewReader(out)
		for range 1 + dice.IntN(1<<dice.IntN(10)) {
			if line, err := lines.ReadString('\n'); line != "led\n" {
				t.Fatalf("it says %q, %v", line, err)
			}
		}
		ok(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		runs, err := segments.Runs(dir)
		ok(t, err)
		if len(runs) != 1 {
			t.Fatalf("%d runs", len(runs))
		}
		open, end := runs[0].Opener()
		s, err := events.NewSegments(open)
		ok(t, err)
		sum, err := engine.ReplaySegments(s, 0, machines.Recipes()...)
		end()
		if err != nil || !sum.Cut && !sum.Torn {
			t.Fatalf("%d records after %d, cut %t, torn %t: %v", sum.Records, sum.After, sum.Cut, sum.Torn, err)
		}
		records += sum.Records
		several += count(len(runs[0].Files) > 1)
		dropped += count(sum.After > 0)
		torn += count(sum.Torn)
	}
	t.Logf("of %d processes, %d had begun another segment, %d had dropped the first, %d left a torn line; %d records replay", many, several, dropped, torn, records)
	if records == 0 {
		t.Error("nothing was recorded")
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
