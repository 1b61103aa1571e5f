//go:build linux

package chaos

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
)

// How a member works.
const (
	lateIn     = 3 // work goes on after it had to return once in so many times
	checkEvery = 500 * time.Millisecond
	sickIn     = 30 // a check fails once in so many times
	sickFor    = 4  // and then for less than so many more
)

// memberCandidate is a member of a group that shares shards. Its work on a shard writes until it has to return, or
// fails before; now and then it returns late, and now and then the member is unhealthy for a while.
type memberCandidate struct {
	*worker
	client *incumbent.Client
	group  *incumbent.Shards
	held   [shardCount]atomic.Pointer[incumbent.Shard]
	sick   int // checks that are to fail yet
}

func joinShards(w *worker) (candidate, error) {
	client, err := openClient(w.orders)
	if err != nil {
		return nil, err
	}
	c := &memberCandidate{worker: w, client: client}
	c.group, err = client.Shards(w.path, shardCount, incumbent.ShardsOptions{
		ID: w.id, Retry: incumbent.RetryForever(100 * time.Millisecond),
		Healthy: c.healthy, HealthInterval: checkEvery, HealthFailures: 1,
		Settle: w.session / 2,
	})
	return c, err
}

var errSick = errors.New("the member is to be unhealthy")

// healthy is the member's check. All are healthy when they are to rest.
func (c *memberCandidate) healthy(context.Context) error {
	switch {
	case c.hold.Load():
		c.sick = 0
		return nil
	case c.sick > 0:
		c.sick--
		return errSick
	case c.chance.IntN(sickIn) > 0:
		return nil
	}
	c.sick = c.chance.IntN(sickFor)
	return errSick
}

func (c *memberCandidate) holding(part int) int64 {
	if s := c.held[part].Load(); s != nil && s.Check() == nil {
		return s.Token()
	}
	return 0
}

func (c *memberCandidate) run(w *worker) {
	ctx, cancel := w.untilEnding()
	defer cancel()
	for !w.leaving() {
		if err := c.group.Run(ctx, c.work); err != nil {
			w.say("error %v", err)
			w.rest(again)
		}
	}
}

var errWork = errors.New("the work is to fail")

// work works on a shard, and says when it returns.
func (c *memberCandidate) work(s *incumbent.Shard) error {
	late := c.chance.IntN(lateIn) == 0
	after := time.Duration(c.chance.Int64N(int64(c.session / 2)))
	c.held[s.ID].Store(s)
	stop := c.writing(s, s.ID)
	failed := c.term(s.Context().Done())
	stop()
	if late {
		c.rest(after)
	}
	c.say("done %d %d %d", s.Token(), s.ID, monotonic())
	if failed {
		return errWork
	}
	return nil
}

func (c *memberCandidate) leave() error {
	<-c.ended
	return closeClient(c.client)
}
