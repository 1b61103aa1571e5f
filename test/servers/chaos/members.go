//go:build linux

package chaos

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
)

// lateIn is how seldom the work on a shard goes on after it had to return.
const lateIn = 3

// memberCandidate is a member of a group that shares shards. Its work on a shard writes until it has to return, or
// fails before; now and then it returns late.
type memberCandidate struct {
	*worker
	client *incumbent.Client
	group  *incumbent.Shards
	held   [shardCount]atomic.Pointer[incumbent.Shard]
}

func joinShards(w *worker) (candidate, error) {
	client, err := openClient(w.orders)
	if err != nil {
		return nil, err
	}
	c := &memberCandidate{worker: w, client: client}
	c.group, err = client.Shards(w.path, shardCount, incumbent.ShardsOptions{
		LatchOptions: incumbent.LatchOptions{ID: w.id, Retry: incumbent.RetryForever(100 * time.Millisecond)},
		Settle:       w.session / 2,
	})
	return c, err
}

func (c *memberCandidate) holding(part int) int64 {
	if s := c.held[part].Load(); s != nil && s.Check() == nil {
		return s.Token()
	}
	return 0
}

func (c *memberCandidate) run(w *worker) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-w.ending
		cancel()
	}()
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
