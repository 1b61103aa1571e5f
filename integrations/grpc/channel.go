package incumbentgrpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/incumbent-go/incumbent"
)

// firstAnswer is for how long a channel waits for the first answer before its calls fail with the reason.
const firstAnswer = 2 * time.Second

// channel passes what is known to one gRPC channel, until it is closed.
type channel struct {
	cc     resolver.ClientConn
	client *incumbent.Client
	config *serviceconfig.ParseResult // nil: the channel's own
	failed *serviceconfig.ParseResult // the one while there is no address; nil: the channel's own
	ctx    context.Context
	stop   context.CancelFunc
	follow sync.WaitGroup // the goroutine that follows the ensemble
	early  *time.Timer
	answer func() // is called with each answer, before the channel gets it; nil: nobody waits for one

	mu       sync.Mutex // held while the channel gets something
	answered bool
}

// newChannel returns a channel that has to be closed. If it gets nothing else for a while, calls fail because what is
// not known.
func newChannel(cc resolver.ClientConn, client *incumbent.Client, what string, answer func()) *channel {
	c := &channel{cc: cc, client: client, answer: answer}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.early = time.AfterFunc(firstAnswer, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.answered {
			c.report(fmt.Errorf("incumbent: %s is not known yet: %w", what, c.absence()))
		}
	})
	return c
}

// absence returns why there is no connection.
func (c *channel) absence() error {
	if err := c.client.Err(); err != nil {
		return err
	}
	return errors.New("the ensemble has not answered")
}

// serve says where to connect; with the lock.
func (c *channel) serve(endpoints ...resolver.Endpoint) {
	c.answered = true
	c.update(endpoints, c.config)
}

// fail takes all addresses away and says why: calls that do not wait fail with this text; with the lock.
func (c *channel) fail(err error) {
	c.answered = true
	c.update([]resolver.Endpoint{}, c.failed)
	c.report(err)
}

// update and report do nothing once the channel is closed. Their results only ask a resolver that polls to poll again.
func (c *channel) update(endpoints []resolver.Endpoint, config *serviceconfig.ParseResult) {
	if c.ctx.Err() != nil {
		return
	}
	if c.answer != nil {
		c.answer()
	}
	var addresses []resolver.Address
	for _, e := range endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	_ = c.cc.UpdateState(resolver.State{Endpoints: endpoints, Addresses: addresses, ServiceConfig: config})
}

func (c *channel) report(err error) {
	if c.ctx.Err() != nil {
		return
	}
	if c.answer != nil {
		c.answer()
	}
	c.cc.ReportError(err)
}

// ResolveNow does nothing: every change is passed on at once.
func (c *channel) ResolveNow(resolver.ResolveNowOptions) {}

// Close ends the following, and returns when its goroutine has ended.
func (c *channel) Close() {
	c.stop()
	c.early.Stop()
	c.follow.Wait()
}

// pathOf returns the path of a target, such as incumbent-leader:///jobs/nightly. The error says what would be right.
func pathOf(t resolver.Target) (string, error) {
	u := t.URL
	if u.Host != "" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("incumbent: target %.64q: want three slashes and a path, as in %s:///jobs/nightly",
			u.String(), u.Scheme)
	}
	return u.Path, incumbent.CheckPath(u.Path)
}
