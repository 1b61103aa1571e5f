// Package story is the program's main job: five chapters on a ZooKeeper in memory over
// real TCP. Everything that it prints is also checked. It waits for events, never for
// time to pass, except in the leaders' work, so that their terms can be seen.
package story

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Line is one line of output. Text has all of it as a sentence.
type Line struct {
	Event    string   `json:"event"` // intro, chapter, queue, leads, kept, replayed; done and failed are the program's
	Text     string   `json:"text"`
	Who      string   `json:"who,omitempty"`
	Token    int64    `json:"token,omitempty"`
	Previous string   `json:"previous,omitempty"`
	Why      string   `json:"why,omitempty"` // why the previous term ended
	LedMs    int64    `json:"ledMs,omitempty"`
	Round    int      `json:"round,omitempty"`
	Queue    []string `json:"queue,omitempty"`
	Records  uint64   `json:"records,omitempty"`
	Inputs   uint64   `json:"inputs,omitempty"`
	Rate     int64    `json:"recordsPerSecond,omitempty"`
	Ms       int64    `json:"ms,omitempty"`
	Log      string   `json:"log,omitempty"`
}

// Options has the destinations of the output.
type Options struct {
	Log  io.Writer // the recorded log of the participant whose session is killed
	Tell func(Line)
}

const (
	tick    = 200 * time.Millisecond
	timeout = 2 * time.Second
)

// demoRun is one run.
type demoRun struct {
	Options
	ctx          context.Context
	srv          *zkmem.Server
	participants []*participant
	changes      chan change
	token        int64 // the highest that led
}

// Run runs all chapters. The error says which check failed.
func Run(ctx context.Context, o Options) (err error) {
	p := &demoRun{Options: o, ctx: ctx, srv: zkmem.New(zkmem.Options{Tick: tick}), changes: make(chan change, 1024)}
	defer p.srv.Close()
	defer func() { err = errors.Join(err, p.closeAll()) }()
	if err := p.srv.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	p.Tell(Line{Event: "intro",
		Text: fmt.Sprintf("A ZooKeeper in memory, on %s; session timeout %s.", p.srv.Addr(), timeout)})
	for _, chapter := range []func() error{p.queue, p.kill, p.lose, p.rounds, p.replay} {
		if err := chapter(); err != nil {
			return err
		}
	}
	return nil
}

func (p *demoRun) chapter(format string, args ...any) {
	p.Tell(Line{Event: "chapter", Text: fmt.Sprintf(format, args...)})
}

// dir is where the latches queue.
const dir = "/demo/latch"

// term is how long a leader works, long enough for people to see it.
const term = 250 * time.Millisecond

func (p *demoRun) queue() error {
	p.chapter("1. Three latches queue at %s, each with a session of its own.", dir)
	for i, name := range []string{"a", "b", "c"} {
		if err := p.join(name); err != nil {
			return err
		}
		if err := p.queued(dir, i+1); err != nil {
			return err
		}
	}
	if err := p.handOver("a", ""); err != nil {
		return err
	}
	return p.showQueue("a", "b", "c")
}

func (p *demoRun) kill() error {
	p.chapter("2. The session of a is killed, as if its machine had died.")
	p.work(term)
	line, err := p.participants[1].client.Line(p.ctx, dir)
	if err != nil {
		return err
	}
	first, _ := line.First()
	if !p.srv.ExpireSession(first.Owner) {
		return fmt.Errorf("the node of the first in line is owned by session 0x%x, which the server does not know",
			first.Owner)
	}
	if err := p.handOver("b", "a"); err != nil {
		return err
	}
	if err := p.queued(dir, 3); err != nil {
		return err
	}
	return p.showQueue("b", "c", "a")
}

// lose has the server cut d's connection before the reply to its create.
func (p *demoRun) lose() error {
	p.chapter("3. d queues, and the reply to its create is lost with the connection.")
	creates := make(chan zkmem.Request, 64)
	remove := p.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op != zkmem.OpCreate && r.Op != zkmem.OpCreate2 || !strings.HasPrefix(r.Path, dir+"/") {
			return zkmem.Verdict{}
		}
		creates <- r
		if len(creates) == 1 {
			return zkmem.Verdict{Action: zkmem.CutAfter}
		}
		return zkmem.Verdict{}
	})
	defer remove()
	if err := p.join("d"); err != nil {
		return err
	}
	if err := p.queued(dir, 4); err != nil {
		return err
	}
	node := p.last(dir)
	if err := p.participants[3].reconnected(p.ctx); err != nil {
		return fmt.Errorf("d waits for a new connection: %w", err)
	}
	if err := p.showQueue("b", "c", "a", "d"); err != nil {
		return err
	}
	for i, next := range []string{"c", "a", "d"} {
		p.work(term / 3)
		leader := p.participant([]string{"b", "c", "a"}[i])
		if err := leader.latch.Close(p.ctx); err != nil {
			return fmt.Errorf("%s leaves the line: %w", leader.name, err)
		}
		if err := p.handOver(next, leader.name); err != nil {
			return err
		}
	}
	d := p.participant("d")
	if own := d.term.Path; own != node || len(creates) != 1 {
		return fmt.Errorf("d made %d nodes and leads by %s; want one, and %s", len(creates), own, node)
	}
	p.Tell(Line{Event: "kept", Who: "d", Token: d.term.Token,
		Text: "d kept its place: one create, and it leads by the node that this one made."})
	return d.latch.Close(p.ctx)
}

// work is the leaders' work: it waits for d.
func (p *demoRun) work(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	}
}

// queued waits until n nodes are in a line.
func (p *demoRun) queued(dir string, n int) error {
	err := p.srv.WaitFor(p.ctx, func(v *zkmem.View) bool { return len(v.Children(dir)) == n })
	if err != nil {
		return fmt.Errorf("waiting for %d in line at %s: %w", n, dir, err)
	}
	return nil
}

// last returns the node at the end of a line.
func (p *demoRun) last(dir string) (node string) {
	p.srv.View(func(v *zkmem.View) {
		var newest int64
		for _, name := range v.Children(dir) {
			if _, stat, err := v.Get(dir + "/" + name); err == nil && stat.Czxid > newest {
				newest, node = stat.Czxid, dir+"/"+name
			}
		}
	})
	return node
}

// showQueue reads the line with another client, checks it, and prints it.
func (p *demoRun) showQueue(want ...string) error {
	line, err := p.participants[1].client.Line(p.ctx, dir)
	if err != nil {
		return err
	}
	var ids []string
	for _, one := range line.Participants {
		ids = append(ids, one.ID)
	}
	if !slices.Equal(ids, want) {
		return fmt.Errorf("the queue is %q, want %q", ids, want)
	}
	p.Tell(Line{Event: "queue", Queue: ids, Text: "queue: " + strings.Join(ids, ", ")})
	return nil
}

// closeAll closes all clients.
func (p *demoRun) closeAll() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), timeout)
	defer cancel()
	var errs []error
	for _, a := range p.participants {
		errs = append(errs, a.client.Close(ctx))
	}
	return errors.Join(errs...)
}

// why returns the reason of an end, without the words that every end has.
func why(err error) string {
	return incumbent.LostReason(err).String()
}
