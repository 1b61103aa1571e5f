//go:build unix

package process

import (
	"bufio"
	"context"
	"errors"
	"io"
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
// only with an error.
func cycle(servers, dir string) error {
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: servers, Record: incumbent.RecordIn(dir, incumbent.RecordOptions{Segment: 64 << 10, Keep: -1})})
	if err != nil {
		return err
	}
	for {
		l, err := c.Latch("/line", incumbent.LatchOptions{})
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

// A process under load is killed at any moment. Its directory has a beginning of what happened, which replays; what is
// missing at the end is said.
func TestAKilledProcessLeavesABeginning(t *testing.T) {
	t.Parallel()
	srv := zkmem.Start(t)
	exe, err := os.Executable()
	ok(t, err)
	dice := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	kills, several := selection.Of(t, "kills", 2, 5, 20), 0
	for range kills {
		dir := t.TempDir()
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), cyclist+"="+srv.Addr()+" "+dir)
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		lines := bufio.NewReader(out)
		for range 1 + dice.IntN(40) {
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
		if len(runs[0].Files) > 1 {
			several++
		}
		open, end := runs[0].Opener()
		s, err := events.NewSegments(open)
		ok(t, err)
		sum, err := engine.ReplaySegments(s, 0, machines.Recipes()...)
		end()
		if err != nil && !errors.Is(err, io.EOF) || sum.Records < 10 || !sum.Cut && !sum.Torn {
			t.Fatalf("%d records, cut %t, torn %t: %v", sum.Records, sum.Cut, sum.Torn, err)
		}
	}
	t.Logf("%d of %d processes had begun another segment", several, kills)
}
