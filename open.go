package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/belief"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/invariants"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/meters"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Open checks the settings and begins to connect. It returns immediately: handles may be
// made and started before there is a connection, and WaitConnected waits for one. The error
// says which setting is wrong and what would be right.
//
// The work of selectors derives from ctx. The end of ctx does not end the client; Close
// does.
func Open(ctx context.Context, config Config) (*Client, error) {
	if ctx == nil {
		return nil, errors.New("incumbent: Open needs a context: context.Background() will do")
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	servers, chroot, err := zkio.ParseServers(config.Servers)
	if err != nil {
		return nil, fmt.Errorf("incumbent: Config.Servers: %w", err)
	}
	replaced, found := sources.From(ctx)
	c := &Client{
		base: ctx, config: &config, log: journal.New(config.logger(replaced.StandardError), config.Name),
		phases: map[string]*string{}, handles: map[events.ID]receiver{}, handleCounts: map[string]int{},
		reserved: map[string]chan struct{}{},
		ending:   make(chan struct{}, 1), closed: make(chan struct{}),
	}
	replaced.AskServer = replaced.AskServer || !found
	c.sources, c.clock = replaced, replaced.Clock
	if c.clock == nil {
		c.clock = clock.System()
	}
	c.outages.Log, c.outages.Now, c.outages.Timeout = c.log, c.clock.Now, c.timeout
	c.commands.Post, c.commands.Closed, c.commands.Ended = c.post, c.closed, ErrClosed
	c.observed.init(config.Name, c.log, config.Observe)
	c.meters.Init(c.metersUse())
	if _, checked := invariants.Inbox(); checked {
		c.invariants = &belief.Checks{Client: fmt.Sprintf("%s (%q)", c, config.Name), Deadline: &c.belief}
	}
	c.watchDeadlines()
	c.pauses.Clock, c.pauses.Timeout = c.clock, c.timeout
	c.pauses.Noticed = c.meters.PausedFor
	c.tick.Store(int64(config.Tick))
	login, auth, acl := config.access()
	c.io, err = zkio.New(zkio.Config{
		Servers: servers, Unrooted: config.unrooted(), Chroot: chroot,
		Timeout: config.SessionTimeout, Lag: c.reportLag,
		SASL: login, Auth: auth, ACL: acl, TLS: (*zkio.TLS)(config.TLS), Dial: config.Dial,
		MaxRequest: config.MaxRequest, MaxAnswer: config.MaxAnswer, ThroughConn: config.Disable.OwnFrames,
		Now: c.clock.Now, Paused: c.pauses.Since, Post: c.onIOEvent, Keep: c.keep,
		SignOfLife: func() <-chan struct{} { return c.loop.SignOfLife() },
		Warn:       func(text string) { c.log.Log(zerolog.WarnLevel, text, nil) },
	})
	if err != nil {
		return nil, fmt.Errorf("incumbent: %w", err)
	}
	c.certificate.io, c.certificate.log, c.certificate.closed = c.io, c.log, c.closed // which the loop uses
	if err := c.run(); err != nil {
		return nil, err
	}
	config.warnOfSASL(c.log)
	if config.TLS != nil {
		go c.certificate.watch()
	}
	if config.FollowEnsemble {
		go c.follow()
	}
	time.AfterFunc(unreachedAfter, c.session.warnUnreached)
	if replaced.Opened != nil {
		replaced.Opened(c.step)
	}
	return c, nil
}

// run starts the loop, the recorder and the session.
func (c *Client) run() error {
	var record engine.Recorder
	if c.config.Record != nil {
		var err error
		if record, err = c.startRecording(); err != nil {
			return fmt.Errorf("incumbent: Config.Record: %w", err)
		}
	}
	e := engine.New(record != nil, machines.Recipes()...)
	e.Observe(c.meters.Stepped)
	c.loop = engine.NewLoop(e, executor{c}, clock.ForLoop(c.clock), record)
	c.loop.CountPauses(c.pauses.Since)
	c.loop.OnLag(c.meters.Lag.NoteTime)
	if c.recorder != nil {
		c.loop.OnLate(c.recorder.Late)
		c.recorder.OnEnd(func(err error) { c.observed.emitAside(RecorderFailed{err}) })
		c.recorder.Start(c.loop)
	}
	if most, checked := invariants.Inbox(); checked {
		c.loop.CheckInvariants(most)
	}
	c.pauses.Start()
	ctx, cancel := context.WithCancel(context.Background())
	c.stop, c.ended = cancel, make(chan struct{})
	go func() {
		defer close(c.ended)
		c.loop.Run(ctx)
		c.outages.Close()
		if c.recorder != nil {
			c.recorder.Close()
		}
		if c.ring != nil {
			c.ring.Close()
		}
	}()
	c.session = newSessionHandle(c)
	c.handles[events.SessionMachine] = c.session
	c.post(events.SessionMachine, events.Event{
		Kind: events.CommandOpen, Recipe: machines.SessionRecipe.Name(), Seed: c.newSeed(), Options: c.config.options(),
	})
	c.post(events.SessionMachine, events.Event{Kind: events.CommandStart})
	return nil
}

// follow makes the servers of the ensemble's configuration the client's, now and whenever it changes, until the client
// closes. Each outcome is logged once in a row.
func (c *Client) follow() {
	said := ""
	for change, err := range c.WatchNode(context.Background(), machines.EnsembleConfig) {
		if errors.Is(err, ErrClosed) {
			return
		}
		var list []string
		switch {
		case err == nil && change.Exists:
			list, err = c.io.Follow(change.Data)
		case err == nil:
			err = errors.New("there is no " + machines.EnsembleConfig)
		}
		if text := strings.Join(list, ","); err == nil && text != said {
			said = text
			c.log.Log(zerolog.InfoLevel, "the servers are those of the ensemble's configuration",
				func(e *zerolog.Event) { e.Str("servers", text) })
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			c.log.Log(zerolog.WarnLevel, "the ensemble's configuration does not change the list of servers",
				func(e *zerolog.Event) { e.Str("error", err.Error()) })
		}
	}
}

// metersUse returns what the client's meters use of it.
func (c *Client) metersUse() meters.Use {
	use := meters.Use{Believable: c.budget, Listed: c.listed, Vacated: c.vacated,
		Paused: func(d time.Duration) { c.observed.emitAside(ProcessPaused{d}) }}
	if o := &c.observed; o.on() {
		use.Stepped = func(s engine.Observed) { o.mark(s.Seq, s.Cause, s.Effects) }
		use.Confirmed = func(s engine.Observed, strength string, took, margin, budget time.Duration) {
			o.send(stepMark{s.Seq, s.Cause}, Confirmed{strength, took, margin, budget, s.Event.Code})
		}
	}
	return use
}

// listed notes what a consumer has read of its queue: the answer that ends listing, after one with the locks. The
// items of a DelayQueue wait on purpose, so the age of its first one is not counted.
func (c *Client) listed(s engine.Observed) {
	if s.Event.Code != events.OK || s.State == "listing" || !strings.HasPrefix(string(s.Machine), consumerPrefix) {
		return
	}
	c.mu.Lock()
	consumer, known := c.handles[s.Machine].(interface{ listed(*events.Event) })
	c.mu.Unlock()
	if known {
		consumer.listed(s.Event)
	}
}

var consumerPrefix = machines.ConsumerRecipe.Name() + "-"

// vacated notes that the node ahead of a participant was deleted.
func (c *Client) vacated(s engine.Observed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one, known := c.handles[s.Machine].(inLine); known {
		one.asParticipant().waits.vacated = s.Event.At
	}
}
