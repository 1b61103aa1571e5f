package elasticjob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// A Go instance is a second process of this test binary. It does for this library what java3/Worker.java does for
// ElasticJob, with the same arguments and lines.
const workerArguments = "INCUMBENT_ELASTICJOB_WORKER"

// worker has the arguments of a Go instance.
type worker struct {
	servers, job   string
	timeout        time.Duration
	ip             string
	length, period time.Duration

	mu sync.Mutex
}

func newWorker(arguments []string) (*worker, error) {
	if len(arguments) != 9 {
		return nil, fmt.Errorf("a worker has %d arguments, want 9", len(arguments))
	}
	timeout, err := strconv.Atoi(arguments[3])
	length, err2 := strconv.Atoi(arguments[7])
	period, err3 := time.ParseDuration(arguments[8])
	w := &worker{
		servers: arguments[0], job: "/" + arguments[1] + "/" + arguments[2],
		timeout: time.Duration(timeout) * time.Millisecond, ip: arguments[4],
		length: time.Duration(length) * time.Millisecond, period: period,
	}
	return w, errors.Join(err, err2, err3)
}

func (w *worker) say(format string, values ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Printf(format+"\n", values...)
}

// execute runs one item.
func (w *worker) execute(ctx context.Context, item *incumbent.Item) error {
	w.say("run %d %d", item.Number, time.Now().UnixMilli())
	select {
	case <-time.After(w.length):
	case <-ctx.Done():
	}
	w.say("done %d %d", item.Number, time.Now().UnixMilli())
	return nil
}

// work is an instance from its start until its standard input ends, or has a line.
func (w *worker) work() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := incumbent.Open(ctx, incumbent.Config{
		Servers: w.servers, SessionTimeout: w.timeout, Tick: w.timeout / 20,
		ConnectRetry: incumbent.RetryForever(50 * time.Millisecond),
	})
	if err != nil {
		return err
	}
	job, err := client.Job(w.job, incumbent.JobOptions{
		ID:       fmt.Sprintf("%s@-@%d", w.ip, os.Getpid()),
		Schedule: func(incumbent.JobConfig) (incumbent.JobSchedule, error) { return incumbent.Every(w.period), nil },
		Retry:    incumbent.RetryForever(20 * time.Millisecond),
	})
	if err != nil {
		return err
	}
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		cancel()
	}()
	w.say("ready")
	if err := job.Run(ctx, w.execute); err != nil {
		return err
	}
	end, stop := context.WithTimeout(context.Background(), 2*w.timeout)
	defer stop()
	if err := client.Close(end); err != nil {
		return err
	}
	w.say("closed")
	return nil
}

func beWorker(arguments string) int {
	w, err := newWorker(strings.Split(arguments, "|"))
	if err == nil {
		err = w.work()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error", err)
		return 1
	}
	return 0
}
