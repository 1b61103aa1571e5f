package suite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

// ranOn is one run of a job's item.
type ranOn struct {
	who  string
	item int
}

// works begins to run a job's items, and returns what ends that.
func (c *client) works(path, id string, runs chan<- ranOn) (stop func()) {
	c.t.Helper()
	j, err := c.Job(path, incumbent.JobOptions{ID: id,
		Schedule: func(config incumbent.JobConfig) (incumbent.JobSchedule, error) {
			return incumbent.Every(time.Duration(config.Total) * 100 * time.Millisecond), nil
		}})
	ok(c.t, err)
	ctx, cancel := context.WithCancel(c.ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- j.Run(ctx, func(ctx context.Context, item *incumbent.Item) error {
			select {
			case runs <- ranOn{id, item.Number}:
			case <-ctx.Done():
			}
			return item.Check()
		})
	}()
	return func() {
		c.t.Helper()
		cancel()
		ok(c.t, recv(c.t, ended, "the end of Run"))
		ok(c.t, j.Close(c.ctx))
	}
}

// awaitRuns waits until each of so many items has run on one of these instances, and each of them has run one.
func awaitRuns(t *testing.T, runs <-chan ranOn, items int, instances ...string) {
	t.Helper()
	left := map[string]bool{}
	for n := range items {
		left[fmt.Sprint("item ", n)] = true
	}
	for _, id := range instances {
		left[id] = true
	}
	for len(left) > 0 {
		ran := recv(t, runs, fmt.Sprintf("a run; %v are missing", left))
		delete(left, ran.who)
		delete(left, fmt.Sprint("item ", ran.item))
	}
}

// The items of a job are dealt to the instances that there are, and run on them. Java's nodes are as ElasticJob
// leaves them.
func TestAJobsItemsRunOnItsInstances(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e)
		config := "jobName: line\nmisfire: true\nmonitorExecution: true\nshardingTotalCount: 3\n"
		_, err := first.Create(e.dir()+"/config", []byte(config)).Parents().Do(first.ctx)
		ok(t, err)
		runs := make(chan ranOn)
		stopA := first.works(e.dir(), "192.0.2.1@-@1", runs)
		awaitRuns(t, runs, 3, "192.0.2.1@-@1")
		stopB := connected(t, e).works(e.dir(), "192.0.2.2@-@1", runs)
		awaitRuns(t, runs, 3, "192.0.2.1@-@1", "192.0.2.2@-@1")
		stopA()
		e.untilGone(e.dir() + "/instances/192.0.2.1@-@1")
		awaitRuns(t, runs, 3, "192.0.2.2@-@1")
		stopB()
		e.untilChildren(e.dir()+"/instances", 0)
		for item := range 3 {
			// An item that still ran when its next run was due has misfired, which stays for the next instance.
			left := strings.Join(e.children(fmt.Sprintf("%s/sharding/%d", e.dir(), item)), " ")
			if left != "instance" && left != "instance misfire" {
				t.Errorf("below item %d is left: %s", item, left)
			}
		}
	})
}
