package door_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

// What an item's function returns when its context has ended is no failure, and a panic is one line.
func TestJobItemsThatFailAreLoggedOnce(t *testing.T) {
	jobBubble(t, yamlJob(2), func(t *testing.T, w *jobWorld) {
		log := &lines{}
		a := w.instance("a@-@1", func(ctx context.Context, item *incumbent.Item) error {
			if item.Number == 1 {
				panic("oh")
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}, incumbent.JobOptions{}, logInto(log))
		w.deal("a@-@1", "a@-@1")
		a.trigger()
		mustBe(t, a.stop(), nil)
		if got := log.with("the item failed"); len(got) != 0 {
			t.Error(got)
		}
		if got := log.with(`oh`); len(got) != 1 || !strings.Contains(got[0], "sharding/1") {
			t.Error(got)
		}
	})
}

// What is wrong with the configuration is logged once, and that a server is disabled is said when its leader stops.
func TestJobTellsOnce(t *testing.T) {
	jobBubble(t, yamlJob(1, "strategy=AVG_ALLOCATION"), func(t *testing.T, w *jobWorld) {
		log := &lines{}
		a := w.instance("a@-@1", nil, incumbent.JobOptions{}, logInto(log))
		pass(5 * time.Second)
		w.set(jobsPath+"/config", "shardingTotalCount: many\n")
		pass(time.Minute)
		if got := log.with(`"code":"JOBCONFIG"`); len(got) != 1 {
			t.Error(strings.Join(got, "\n"))
		}
		if err := a.job.Err(); strings.Count(err.Error(), "many") != 1 {
			t.Error(err)
		}
		if got := log.with(`"reason":"cannot-deal"`); len(got) != 1 {
			t.Error(got)
		}
		w.set(jobsPath+"/config", yamlJob(1, "strategy=AVG_ALLOCATION"))
		pass(time.Minute)
		w.set(jobsPath+"/servers/a", "DISABLED")
		pass(5 * time.Second)
		got := log.with(`"reason":"disabled"`)
		if len(got) != 1 || !strings.Contains(got[0], "an operator has disabled this server") {
			t.Error(got)
		}
	})
}
