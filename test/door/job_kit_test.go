package door_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// jobsPath is the job of the tests about jobs.
const jobsPath = "/ns/job"

// yamlJob is a configuration as ElasticJob 3.0 writes it. Unless strategy=… says another, only Java has its strategy:
// no instance of a test stands, and the test deals.
func yamlJob(total int, more ...string) string {
	flags := map[string]string{"strategy": "MINE", "failover": "false", "misfire": "true",
		"monitorExecution": "true", "disabled": "false"}
	for _, m := range more {
		key, value, _ := strings.Cut(m, "=")
		flags[key] = value
	}
	return fmt.Sprintf("cron: 0/4 * * * * ?\ndisabled: %s\nfailover: %s\njobName: job\njobParameter: all\nmisfire: "+
		"%s\nmonitorExecution: %s\n"+
		"jobShardingStrategyType: %s\nshardingItemParameters: 0=A,1=B,2=C\nshardingTotalCount: %d\n",
		flags["disabled"], flags["failover"], flags["misfire"], flags["monitorExecution"],
		flags["strategy"], total)
}

// jobWorld is a world with a job, whose items the test deals, or the instances.
type jobWorld struct {
	*world
	mu    sync.Mutex
	runs  []ran
	alone map[int]string // who runs each item now
	twice []string       // items that two instances ran at one time
}

// ran is one run of an item.
type ran struct {
	who  string
	item int
	at   time.Duration
}

// newJobWorld makes the job's nodes.
func newJobWorld(w *world, config string) *jobWorld {
	jw := &jobWorld{world: w, alone: map[int]string{}}
	for _, path := range []string{"/ns", jobsPath} {
		jw.make(path, "")
	}
	if config != "" {
		jw.make(jobsPath+"/config", config)
	}
	return jw
}

// make creates a node, and the parents that are missing.
func (w *jobWorld) make(path, data string) {
	w.t.Helper()
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			_, _ = w.srv.Create(path[:i], nil, zkmem.Persistent) // it may exist
		}
	}
	if _, err := w.srv.Create(path, []byte(data), zkmem.Persistent); err != nil {
		w.t.Fatal(path, err)
	}
}

// set sets a node's data.
func (w *jobWorld) set(path, data string) {
	w.t.Helper()
	if err := w.srv.Set(path, []byte(data)); err != nil {
		w.t.Fatal(path, err)
	}
}

// remove deletes a node.
func (w *jobWorld) remove(path string) {
	w.t.Helper()
	if err := w.srv.Delete(path); err != nil {
		w.t.Fatal(path, err)
	}
}

// deal gives items to owners, as a leader does.
func (w *jobWorld) deal(owners ...string) {
	w.t.Helper()
	for n, owner := range owners {
		path := fmt.Sprintf("%s/sharding/%d/instance", jobsPath, n)
		_ = w.srv.Delete(path) // there may be none
		if owner != "" {
			w.make(path, owner)
		}
	}
}

// data returns a node's data, "-" if there is none.
func (w *jobWorld) data(path string) (data string) {
	data = "-"
	w.srv.View(func(v *zkmem.View) {
		if b, _, err := v.Get(path); err == nil {
			data = string(b)
		}
	})
	return data
}

// names returns a node's children, sorted.
func (w *jobWorld) names(path string) (names []string) {
	w.srv.View(func(v *zkmem.View) { names = v.Children(path) })
	return names
}

// worker is an instance of the job on a client of its own, and its Run.
type worker struct {
	*node
	job    *incumbent.Job
	deals  bool // and runs no item
	name   string
	ended  chan error
	cancel context.CancelFunc
	lasts  func(ctx context.Context, item *incumbent.Item) error // nil: an item returns at once
}

// instance begins to Run an instance, whose ticks come every second unless the options say more.
func (w *jobWorld) instance(name string, lasts func(context.Context, *incumbent.Item) error,
	options incumbent.JobOptions,
	change ...func(*incumbent.Config)) *worker {
	w.t.Helper()
	i := &worker{node: w.open(change...), name: name, lasts: lasts}
	options.ID, i.deals = name, options.Mode == incumbent.JobDeals
	var err error
	if i.job, err = i.Job(jobsPath, options); err != nil {
		w.t.Fatal(err)
	}
	w.begin(i)
	return i
}

// begin begins a Run.
func (w *jobWorld) begin(i *worker) {
	var ctx context.Context
	ctx, i.cancel = context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	i.ended = ended
	f := func(ctx context.Context, item *incumbent.Item) error { return w.ranItem(ctx, i, item) }
	if i.deals {
		f = nil
	}
	go func() { ended <- i.job.Run(ctx, f) }()
	synctest.Wait()
}

// ranItem notes a run of an item, and lasts as long as the instance's items do.
func (w *jobWorld) ranItem(ctx context.Context, i *worker, item *incumbent.Item) error {
	w.mu.Lock()
	if other, runs := w.alone[item.Number]; runs {
		w.twice = append(w.twice, fmt.Sprintf("item %d by %s and %s", item.Number, other, i.name))
	}
	w.alone[item.Number] = i.name
	w.runs = append(w.runs, ran{i.name, item.Number, time.Duration(w.now())})
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.alone, item.Number)
		w.mu.Unlock()
	}()
	if i.lasts == nil {
		return nil
	}
	return i.lasts(ctx, item)
}

// until returns a function that lasts for d, or until the item's context ends.
func until(d time.Duration) func(context.Context, *incumbent.Item) error {
	return func(ctx context.Context, _ *incumbent.Item) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// trigger triggers the items and lets them begin.
func (i *worker) trigger() {
	i.w.t.Helper()
	if err := i.job.Trigger(i.w.t.Context()); err != nil {
		i.w.t.Fatal(err)
	}
	synctest.Wait()
}

// stop cancels Run and awaits its end.
func (i *worker) stop() error {
	i.cancel()
	return <-i.ended
}

// since forgets the runs so far, and returns who ran what since the last call, as "a0 a1 b2", sorted.
func (w *jobWorld) since() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, r := range w.runs {
		all = append(all, fmt.Sprintf("%s%d", r.who, r.item))
	}
	w.runs = nil
	slices.Sort(all)
	return strings.Join(all, " ")
}

// mustRun fails the test unless exactly this ran since the last call.
func (w *jobWorld) mustRun(what string) {
	w.t.Helper()
	if got := w.since(); got != what {
		w.t.Errorf("ran %q, want %q", got, what)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.twice) > 0 {
		w.t.Error("at one time: ", w.twice)
	}
}

// jobBubble runs a test about a job in virtual time.
func jobBubble(t *testing.T, config string, test func(*testing.T, *jobWorld)) {
	t.Helper()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) { test(t, newJobWorld(w, config)) })
}

// mustBe fails the test unless err is target.
func mustBe(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%v, want %v", err, target)
	}
}

// onlyStrategy fails the test if err is more than that only Java knows the job's strategy.
func onlyStrategy(t *testing.T, err error) {
	t.Helper()
	if err != nil && !strings.HasPrefix(err.Error(), incumbent.ErrJobStrategy.Error()) {
		t.Error(err)
	}
}

// server returns the address in the worker's name.
func (i *worker) server() string {
	ip, _, _ := strings.Cut(i.name, "@-@")
	return ip
}
