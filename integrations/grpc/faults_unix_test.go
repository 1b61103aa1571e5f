//go:build unix

package incumbentgrpc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/incumbent-go/incumbent"
	incumbentgrpc "github.com/incumbent-go/incumbent/integrations/grpc"
	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// config is for sessions of 4 s.
func config(addr string) incumbent.Config {
	return incumbent.Config{Servers: addr, SessionTimeout: 4 * time.Second, Tick: 500 * time.Millisecond, Silent: true}
}

// The program serves while it leads. SIGUSR1 has it resign.
func init() {
	program = func() {
		if err := runProgram(os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
}

func runProgram(zk string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	resign := make(chan os.Signal, 1)
	signal.Notify(resign, syscall.SIGUSR1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	guard := incumbentgrpc.NewGuard(incumbentgrpc.GuardOptions{})
	server := grpc.NewServer(guard.ServerOptions()...)
	testpb.RegisterTestServiceServer(server, tokens{})
	go func() { log.Print(server.Serve(listener)) }()
	client, err := incumbent.Open(ctx, config(zk))
	if err != nil {
		return err
	}
	latch, err := client.Latch(line, incumbent.LatchOptions{ID: listener.Addr().String()})
	if err != nil {
		return err
	}
	go func() {
		for range resign {
			log.Print("resigned: ", latch.Resign(ctx))
		}
	}()
	fmt.Println("process", os.Getpid(), "serves on", listener.Addr())
	return latch.Run(ctx, guard.Lead)
}

// tokens is a service whose answer is the token under which it was given.
type tokens struct {
	testpb.UnimplementedTestServiceServer
}

func (tokens) UnaryCall(ctx context.Context, _ *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	l, ok := incumbentgrpc.LeadershipFrom(ctx)
	if !ok {
		return nil, errors.New("a call without a leadership")
	}
	return &testpb.SimpleResponse{ServerId: number(l.Token())}, nil
}

// process is the program that runs.
type process struct {
	*instances.Instance
	id   int
	addr string
}

func startProcess(t *testing.T, zk string) *process {
	t.Helper()
	i := instances.Start(t, zk)
	id, addr, _ := strings.Cut(i.Says(t, "process "), " serves on ")
	n, err := strconv.Atoi(id)
	if err != nil {
		t.Fatal(err)
	}
	return &process{i, n, addr}
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.id, s); err != nil {
		t.Error(err)
	}
}

// way is a way to call the leader. A call returns the token under which it was answered.
type way struct {
	name string
	call func(context.Context) (int64, error)
}

// tokenOf makes one call.
func tokenOf(ctx context.Context, conn *grpc.ClientConn, options ...grpc.CallOption) (int64, error) {
	id, err := ask(ctx, conn, options...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(id, 10, 64)
}

// The deadlines of an attempt that does not wait for a leader, and of a call that waits.
const (
	attempt  = time.Second
	patience = 10 * time.Second
)

// ways returns the ways that are compared: a channel of this package whose calls fail, one whose calls wait, and a loop
// that asks for the first in line after each failure.
func ways(t *testing.T, c *incumbent.Client) []way {
	t.Helper()
	conn := channel(t, c)
	return []way{
		{"channel", func(ctx context.Context) (int64, error) {
			ctx, cancel := context.WithTimeout(ctx, attempt)
			defer cancel()
			return tokenOf(ctx, conn)
		}},
		{"channel, WaitForReady", func(ctx context.Context) (int64, error) {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			return tokenOf(ctx, conn, grpc.WaitForReady(true))
		}},
		{"loop over Client.Line", handMade(t, c)},
	}
}

// handMade returns a call that is sent again every 100 ms until it is answered.
func handMade(t *testing.T, c *incumbent.Client) func(context.Context) (int64, error) {
	var to *grpc.ClientConn
	try := func(ctx context.Context) (int64, error) {
		if to == nil {
			all, err := c.Line(ctx, line)
			if err != nil {
				return 0, err
			}
			first, ok := all.First()
			if !ok {
				return 0, errors.New("nobody leads")
			}
			to, err = grpc.NewClient("passthrough:///"+first.ID,
				grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				return 0, err
			}
		}
		ctx, cancel := context.WithTimeout(ctx, attempt)
		defer cancel()
		token, err := tokenOf(ctx, to)
		if err != nil {
			_ = to.Close()
			to = nil
		}
		return token, err
	}
	t.Cleanup(func() {
		if to != nil {
			_ = to.Close()
		}
	})
	return func(ctx context.Context) (int64, error) {
		for {
			token, err := try(ctx)
			if err == nil {
				return token, nil
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
	}
}

// tally is the outcome of one way's calls.
type tally struct {
	calls, failed int
	longest       time.Duration // between two answers
	err           error         // of the last call that failed
}

// trial is one fault, while calls are made in all ways.
type trial struct {
	highest atomic.Int64   // token of an answer
	before  sync.WaitGroup // each way has had answers before the fault
	old     int64          // the token before the fault
	faulted chan struct{}  // closed when old is set
}

const enough = 20

// repeat makes calls until enough were answered by the next leader. A call that begins after an answer of a leader is
// answered by no earlier one.
func (r *trial) repeat(t *testing.T, w way) (sum tally) {
	ctx, began, last := bounded(t), 0, time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	defer func() {
		if began < enough {
			r.before.Done()
		}
	}()
	for after := 0; after < enough; {
		highest := r.highest.Load()
		token, err := w.call(ctx)
		sum.calls++
		switch {
		case ctx.Err() != nil:
			t.Errorf("%s: no answer of the next leader in %v: %v", w.name, within, sum.err)
			return sum
		case err != nil:
			sum.failed, sum.err = sum.failed+1, err
		case token < highest:
			t.Errorf("%s: answered under the token %d, after an answer under %d", w.name, token, highest)
		default:
			for now := highest; now < token && !r.highest.CompareAndSwap(now, token); now = r.highest.Load() {
			}
			sum.longest, last = max(sum.longest, time.Since(last)), time.Now()
			if began++; began == enough {
				r.before.Done()
			}
			select {
			case <-r.faulted:
				if token > r.old {
					after++
				}
			default:
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return sum
}

// Whatever becomes of the leader, no call is answered by one that may not believe any more, and every way has answers
// of the next. The log has how many calls failed, and for how long there was no answer: the table of README.md.
func TestFaults(t *testing.T) {
	var mu sync.Mutex
	rows := map[string]string{}
	faults := []string{"killed", "cut off from the ensemble", "paused", "resigned"}
	t.Run("all", func(t *testing.T) {
		for _, name := range faults {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				row := undergo(t, name)
				mu.Lock()
				defer mu.Unlock()
				rows[name] = row
			})
		}
	})
	table := "\n| the leader is | calls | made | failed | longest time without an answer |\n|---|---|---|---|---|\n"
	for _, name := range faults {
		table += rows[name]
	}
	t.Log(table)
}

// undergo lets one fault happen to the leader, and returns the rows of the table.
func undergo(t *testing.T, name string) (rows string) {
	srv := zkmem.Start(t, zkmem.Options{Tick: 500 * time.Millisecond})
	link, err := proxy.New(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	leader := startProcess(t, link.Addr())
	instances.InLine(t, srv, line, 1)
	startProcess(t, srv.Addr())
	instances.InLine(t, srv, line, 2)
	r := &trial{faulted: make(chan struct{})}
	all := ways(t, open(t, incumbent.Config{Servers: srv.Addr()}))
	sums := make([]tally, len(all))
	var repeating sync.WaitGroup
	r.before.Add(len(all))
	for i, w := range all {
		repeating.Go(func() { sums[i] = r.repeat(t, w) })
	}
	r.before.Wait()
	r.old = r.highest.Load()
	close(r.faulted)
	switch name {
	case "killed":
		leader.Kill()
	case "cut off from the ensemble":
		link.Silence(proxy.Forth)
		link.Silence(proxy.Back)
	case "paused":
		leader.signal(t, syscall.SIGSTOP)
	case "resigned":
		leader.signal(t, syscall.SIGUSR1)
	}
	repeating.Wait()
	for i, s := range sums {
		rows += fmt.Sprintf("| %s | %s | %d | %d | %.2f s |\n", name, all[i].name, s.calls, s.failed,
			s.longest.Seconds())
	}
	if name != "killed" {
		wake(t, leader, name == "paused")
	}
	return rows
}

// wake sends a call to the leader of before, which has to refuse it. A paused one goes on after the call is on its way.
func wake(t *testing.T, old *process, paused bool) {
	t.Helper()
	refused := make(chan error, 1)
	conn := dial(t, "passthrough:///"+old.addr)
	go func() {
		_, err := ask(bounded(t), conn)
		refused <- err
	}()
	if paused {
		old.signal(t, syscall.SIGCONT)
	}
	if err := <-refused; !incumbentgrpc.Refused(err) {
		t.Errorf("the leader of before answers a call with %v", err)
	}
}
