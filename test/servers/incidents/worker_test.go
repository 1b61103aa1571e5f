//go:build unix

package incidents

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/servers/incidents/wallclock"
)

// job, in the environment, turns the test binary into a participant: "ID SERVERS TIMEOUT TICK LOG".
const job = "INCUMBENT_INCIDENT"

// setClock, in the environment, has the test binary run itself as a program whose wall clock can be set. It is the
// number of the file with the offsets.
const setClock = "INCUMBENT_INCIDENT_CLOCK"

const line = "/jobs/nightly"

func TestMain(m *testing.M) {
	if file, err := strconv.Atoi(os.Getenv(setClock)); err == nil {
		os.Exit(withOwnClock(file))
	}
	if words := strings.Fields(os.Getenv(job)); len(words) == 5 {
		if err := participate(words); err != nil {
			fmt.Fprintln(os.Stderr, words[0]+":", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// withOwnClock runs this program again, with a wall clock of its own, and returns its exit code.
func withOwnClock(offsets int) int {
	err := os.Unsetenv(setClock)
	code := 1
	if err == nil {
		code, err = wallclock.Run(os.Args[:1], os.NewFile(uintptr(offsets), "offsets"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// hanging is a writer that hangs for good when it is asked to.
type hanging struct {
	*os.File
	on atomic.Bool
}

func (h *hanging) Write(b []byte) (int, error) {
	if h.on.Load() {
		select {}
	}
	n, err := h.File.Write(b)
	if bytes.Contains(b, []byte(`"jumped"`)) {
		fmt.Println("clock set")
	}
	for range bytes.Count(b, []byte("notify elected")) {
		fmt.Println("logged")
	}
	return n, err
}

// participant is one process.
type participant struct {
	client *incumbent.Client
	latch  *incumbent.Latch
	log    *hanging
	sick   atomic.Bool
	forget atomic.Bool
	works  sync.WaitGroup
}

// participate takes part in the line until its input ends. It says "waiting", "refused", "leading", "working" (often),
// "stopped" and, when its log has it, "logged" (an election) and "clock set" on standard output. On standard input:
// "resign", "close", "stubborn" (the work does not return until its input ends), "forget" (so, and it is closed),
// "sick", "hang" (the recorder), and "evict" (the leader).
func participate(words []string) error {
	timeout, _ := time.ParseDuration(words[2])
	tick, _ := time.ParseDuration(words[3])
	f, err := incumbent.CreateLog(words[4])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	p := &participant{log: &hanging{File: f}}
	p.client, err = incumbent.Open(ctx, incumbent.Config{Servers: words[1], SessionTimeout: timeout, Tick: tick,
		SyncLimit: 4, Record: incumbent.RecordTo(p.log), ConnectRetry: incumbent.RetryForever(100 * time.Millisecond)})
	if err != nil {
		return err
	}
	p.latch, err = p.client.Latch(line,
		incumbent.LatchOptions{ID: words[0], Retry: incumbent.RetryForever(100 * time.Millisecond),
			HealthInterval: 200 * time.Millisecond,
			Healthy: func(context.Context) error {
				if p.sick.Load() {
					return errors.New("the disk is full")
				}
				return nil
			}})
	if err != nil {
		return err
	}
	p.latch.AddListener(incumbent.Listener{
		IsLeader:  func(incumbent.Term) { say("leading") },
		NotLeader: func(incumbent.Term, error) { say("stopped") },
	})
	if words[0] != "operator" {
		if err := p.latch.Start(); err != nil {
			return err
		}
		p.works.Go(func() { p.work(ctx) })
	}
	if err := p.client.WaitConnected(ctx); err != nil {
		return err
	}
	go p.sayWhenWaiting(ctx)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := p.obey(ctx, in.Text()); err != nil {
			return err
		}
	}
	p.forget.Store(false)
	closing, end := context.WithTimeout(context.Background(), 15*time.Second)
	defer end()
	err = p.client.Close(closing)
	if p.log.on.Load() {
		return nil // it cannot be flushed
	}
	cancel()
	p.works.Wait()
	return err
}

func (p *participant) sayWhenWaiting(ctx context.Context) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	refused := false
	for ctx.Err() == nil {
		if p.latch.Phase() == "waiting" || p.latch.Phase() == "latent" {
			fmt.Println("waiting")
			return
		}
		if p.latch.Err() != nil && !refused {
			refused = true
			fmt.Println("refused")
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// work works while it leads.
func (p *participant) work(ctx context.Context) {
	for ctx.Err() == nil {
		held, err := p.latch.Await(ctx)
		if errors.Is(err, incumbent.ErrClosed) {
			return
		}
		if err != nil {
			p.idle(ctx)
			continue
		}
		for held.Context().Err() == nil {
			say("working")
			p.idle(held.Context())
		}
		for p.forget.Load() && ctx.Err() == nil {
			say("working")
			p.idle(ctx)
		}
		held.Release()
	}
}

// say prints what the participant does, and when. Where the host does not tell, the driver's clock has to do.
func say(what string) { fmt.Println(what + " @" + stamp()) }

func (p *participant) idle(ctx context.Context) {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (p *participant) obey(ctx context.Context, command string) error {
	switch command {
	case "resign":
		return p.latch.Resign(ctx)
	case "close":
		go p.latch.Close(ctx)
	case "forget":
		p.forget.Store(true)
		go p.latch.Close(ctx)
	case "stubborn":
		p.forget.Store(true)
	case "return":
		p.forget.Store(false)
	case "sick":
		p.sick.Store(true)
	case "hang":
		p.log.on.Store(true)
		for n := range 5 { // so that the servers have more of the session than the log
			if _, err := p.client.Create(fmt.Sprint("/jobs/after-", n), nil).Do(ctx); err != nil {
				return err
			}
		}
	case "evict":
		all, err := p.client.Line(ctx, line)
		if err != nil {
			return err
		}
		return p.client.Evict(ctx, all.Participants[0])
	default:
		return fmt.Errorf("no command %q", command)
	}
	return nil
}
