//go:build unix

package process

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// job, in the environment, turns the test binary into a worker: "ID SERVERS PATH TIMEOUT TICK STORE".
const job = "INCUMBENT_WORKER"

func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(cyclist)); len(words) > 0 {
		fmt.Fprintln(os.Stdout, "error", cycle(words[0], words[1]))
		os.Exit(1)
	}
	if words := strings.Fields(os.Getenv(job)); len(words) > 0 {
		if err := work(words); err != nil {
			fmt.Fprintln(os.Stdout, "error", err)
			os.Exit(1)
		}
		return
	}
	// the tests wait for sessions to end, all at once; -parallel comes after this
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// work takes part in an election until its input ends. On standard error is the flight recorder. On standard output:
// "leading TOKEN", "stopped". Commands on standard input: "write" checks leadership and writes to the store; "faint"
// does the same, but stops its own process between the check and the write. Both answer "wrote STORE'S-ANSWER
// CHECK-AFTERWARDS" or "refused" when the check fails.
func work(words []string) error {
	id, servers, path, store := words[0], words[1], words[2], words[5]
	timeout, _ := time.ParseDuration(words[3])
	tick, _ := time.ParseDuration(words[4])
	ctx := context.Background()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: servers, SessionTimeout: timeout, Tick: tick,
		Record:       incumbent.RecordTo(os.Stderr),
		ConnectRetry: incumbent.RetryForever(20 * time.Millisecond)})
	if err != nil {
		return err
	}
	latch, err := client.Latch(path,
		incumbent.LatchOptions{ID: id, Retry: incumbent.RetryForever(20 * time.Millisecond)})
	if err != nil {
		return err
	}
	latch.AddListener(incumbent.Listener{
		IsLeader:  func(t incumbent.Term) { fmt.Println("leading", t.Token) },
		NotLeader: func(incumbent.Term, error) { fmt.Println("stopped") },
	})
	if err := latch.Start(); err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		held, err := latch.Await(ctx)
		if err != nil {
			return err
		}
		if held.Check() != nil {
			fmt.Println("refused")
		} else {
			if in.Text() == "faint" {
				woken := make(chan os.Signal, 1) // other threads may run on for a moment
				signal.Notify(woken, syscall.SIGCONT)
				if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
					return err
				}
				<-woken
			}
			after := held.Check() == nil
			fmt.Println("wrote", write(store, held.Token()), after)
		}
		held.Release()
	}
	closeCtx, cancel := context.WithTimeout(ctx, repeat.Enough)
	defer cancel()
	return client.Close(closeCtx)
}

// write asks the store to take a write under a token.
func write(store string, token int64) string {
	conn, err := net.DialTimeout("tcp", store, repeat.Enough)
	if err != nil {
		return "unreachable"
	}
	defer conn.Close()
	fmt.Fprintln(conn, token)
	answer, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer)
}
