package figures

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// serverHere is set in the process that has the server.
const serverHere = "INCUMBENT_FIGURES_SERVER"

// How many bytes of its process's memory a latch takes. The server is in another process. The
// latches of one client lead, those of a second are next in line, and those of a third wait
// behind them.
func TestTheMemoryOfALatch(t *testing.T) {
	if os.Getenv(serverHere) != "" {
		serve(t)
		return
	}
	alone(t, memoryOfALatch)
}

func memoryOfALatch(t *testing.T) {
	many := size()
	srv := otherProcess(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*tape.Within)
	defer cancel()
	watches := 0
	for _, stage := range []struct {
		what    string
		watches int // of each latch
		most    int // bytes
	}{
		{"leads", 1, 1830},
		{"is next in line", 2, 2000},
		{"waits behind it", 2, 1910},
	} {
		c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.addr})
		ok(t, err)
		defer func() { ok(t, c.Close(context.WithoutCancel(ctx))) }()
		ok(t, c.WaitConnected(ctx))
		before := heap()
		latches := make([]*incumbent.Latch, many)
		for i := range latches {
			latches[i], err = c.Latch(fmt.Sprintf("/crowd/line-%05d", i), incumbent.LatchOptions{})
			ok(t, err)
			ok(t, latches[i].Start())
		}
		watches += stage.watches * many
		srv.waitForWatches(t, watches)
		_, err = c.Line(ctx, "/crowd/line-00000") // the answers before it have arrived
		ok(t, err)
		figure(t, fmt.Sprintf("bytes of heap of each of %d latches that %s", many, stage.what),
			int((heap()-before)/int64(many)), stage.most)
		runtime.KeepAlive(latches)
	}
}

// remote is a server in a process of its own.
type remote struct {
	addr string
	in   io.Writer
	out  *bufio.Scanner
}

// otherProcess starts this test in another process, which has the server.
func otherProcess(t testing.TB) *remote {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTheMemoryOfALatch$")
	cmd.Env, cmd.Stderr = append(os.Environ(), serverHere+"=1"), os.Stderr
	in, err := cmd.StdinPipe()
	ok(t, err)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // it ends by itself
		_ = cmd.Wait()
	})
	srv := &remote{in: in, out: bufio.NewScanner(out)}
	srv.addr = srv.answer(t)
	return srv
}

const answered = "server: "

// answer returns the server's next line.
func (r *remote) answer(t testing.TB) string {
	t.Helper()
	for r.out.Scan() {
		if text, its := strings.CutPrefix(r.out.Text(), answered); its {
			return text
		}
	}
	t.Fatalf("the server's process has ended: %v", r.out.Err())
	return ""
}

// waitForWatches returns when the server has at least this many watches.
func (r *remote) waitForWatches(t *testing.T, count int) {
	t.Helper()
	_, err := fmt.Fprintln(r.in, count)
	ok(t, err)
	if got := r.answer(t); got != "yes" {
		t.Fatalf("%d watches: %s", count, got)
	}
}

// serve has a server until standard input ends. A line of it is a number of watches to
// wait for.
func serve(t *testing.T) {
	srv := zkmem.Start(t)
	fmt.Println(answered + srv.Addr())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var count int
		_, err := fmt.Sscan(lines.Text(), &count)
		ok(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 10*tape.Within)
		got := 0
		err = srv.WaitFor(ctx, func(v *zkmem.View) bool { got = v.WatchCount(); return got >= count })
		cancel()
		if err != nil {
			fmt.Printf("%s%d of %d, %v\n", answered, got, count, err)
			return
		}
		fmt.Println(answered + "yes")
	}
}
