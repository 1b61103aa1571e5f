package doctor

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/internal/jute"
)

// Deep is what was measured with a scratch node.
type Deep struct {
	Server     string `json:"server"`               // at which was written
	Commit     *Times `json:"commitMs,omitempty"`   // from a write to its answer
	Watch      *Times `json:"watchMs,omitempty"`    // from a write to the event of a watch
	WatchAt    string `json:"watchAt,omitempty"`    // the server of that watch
	Containers *bool  `json:"containers,omitempty"` // whether there are such nodes
	TTL        *bool  `json:"ttl,omitempty"`
	Recursive  *bool  `json:"recursiveWatches,omitempty"`
}

// Times are the median and the longest of some.
type Times struct {
	Median Millis `json:"median"`
	Most   Millis `json:"most"`
}

func timesOf(all []time.Duration) *Times {
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return &Times{Millis(all[len(all)/2]), Millis(all[len(all)-1])}
}

// Clock is the clock of a server, compared with that of this host.
type Clock struct {
	From      string  `json:"from"` // "committed writes" is the clock of the ensemble's leader
	Offset    Millis  `json:"offsetMs"`
	Error     Millis  `json:"errorMs"`
	Rate      float64 `json:"rate,omitempty"` // 1 is that of this host; 0: it was not measured
	RateError float64 `json:"rateError,omitempty"`
}

// How many writes and watches are timed, and how far the two readings of the leader's clock are apart.
const (
	writes    = 10
	watches   = 5
	ratePause = 2 * time.Second
)

// scratch are the nodes of one examination.
type scratch struct {
	f     *Facts
	at    *Server
	own   *session // which the node goes with
	node  string
	clock []reading
}

// reading is the leader's clock, as a write shows it: between sent and got.
type reading struct {
	sent, got time.Time
	clock     time.Time // in whole milliseconds
}

// askDeep measures with a scratch node, and deletes it, also if the context has ended.
func (f *Facts) askDeep(ctx context.Context) {
	v := f.home()
	if !f.settings.Deep || v == nil {
		return
	}
	f.deep = &Deep{Server: v.Address}
	x := &scratch{f: f, at: v, node: path.Join("/", f.settings.Chroot, f.settings.Scratch, scratchName())}
	var err error
	if x.own, err = f.settings.openLoggedIn(ctx, v.Address); err != nil {
		f.lacked("all that --deep measures", text(err))
		f.deep = nil
		return
	}
	defer x.own.close()
	if why := x.create(); why != "" {
		f.lacked("all that --deep measures", x.node+" cannot be created: "+why)
		f.deep, f.noScratch = nil, why
		return
	}
	defer x.delete()
	f.deep.Commit = timesOf(x.timeWrites(writes))
	x.timeWatches(ctx)
	x.tryKinds(ctx)
	x.readRate(ctx)
	f.askSizes(ctx)
}

// create creates the scratch node, which goes with its session. It returns why it could not.
func (x *scratch) create() string {
	_, code, err := x.own.request(opCreate, x.newNode(x.node, 1))
	switch {
	case err != nil:
		return text(err)
	case code == codeNoNode:
		return "there is no directory " + path.Dir(x.node)
	case code == codeNoAuth:
		return "this client may not create there: name another directory with --scratch"
	case code != codeOK:
		return refusal(code)
	}
	return ""
}

// newNode is the body of the creation of a node without data that only we may use, if the servers know who we are.
func (x *scratch) newNode(node string, flags int32) jute.Frame {
	s := &x.f.settings
	scheme, id := "world", "anyone"
	if len(s.Auth) > 0 || s.SASL != nil || s.TLS != nil && s.TLS.Cert != "" {
		scheme, id = "auth", ""
	}
	return about(node).Bytes(nil).Int32(1).Int32(permAll).Text(scheme).Text(id).Int32(flags)
}

// timeWrites times some writes to the scratch node. Each shows the leader's clock.
func (x *scratch) timeWrites(n int) (all []time.Duration) {
	for range n {
		sent := x.f.settings.Now()
		b, code, err := x.own.request(opSetData, about(x.node).Bytes(nil).Int32(-1))
		if err != nil || code != codeOK {
			return all
		}
		got := x.f.settings.Now()
		all = append(all, got.Sub(sent))
		if s := readStat(b); !b.Bad {
			x.clock = append(x.clock, reading{sent, got, time.UnixMilli(s.mtime)})
		}
	}
	return all
}

// timeWatches times how long it takes from a write at one server to the event of a watch, at another one if there is
// one.
func (x *scratch) timeWatches(ctx context.Context) {
	at := x.at
	for _, v := range x.f.answering() {
		if v != x.at && !v.stranger && !v.behind {
			at = v
		}
	}
	c, err := x.f.settings.openLoggedIn(ctx, at.Address)
	if err != nil {
		x.f.missed("how long the event of a watch takes", text(err))
		return
	}
	defer c.close()
	if _, _, err := c.request(opSync, about(x.node)); err != nil {
		return
	}
	var all []time.Duration
	for range watches {
		if _, code, err := c.request(opGetData, about(x.node).Bool(true)); err != nil ||
			code != codeOK {
			break
		}
		begun := time.Now()
		if len(x.timeWrites(1)) == 0 || c.awaitEvent() != nil {
			break
		}
		all = append(all, time.Since(begun))
	}
	x.f.deep.Watch, x.f.deep.WatchAt = timesOf(all), at.Address
}

// tryKinds tries what only newer servers know. Each has a connection of its own, which an older server ends.
func (x *scratch) tryKinds(ctx context.Context) {
	try := func(op int32, body jute.Frame) *bool {
		c, err := x.f.settings.openLoggedIn(ctx, x.at.Address)
		if err != nil {
			return nil
		}
		defer c.close()
		c.trying = true
		b, code, err := c.request(op, body)
		known := err == nil && code == codeOK
		if known && op == opMulti {
			known = b.Int32() != resultError && !b.Bad
		}
		if !known && ctx.Err() != nil || silent(err) {
			return nil
		}
		return &known
	}
	// Each is created and deleted by one transaction: these nodes would not go with a session.
	inOne := func(op int32, node string, create jute.Frame) *bool {
		both := append(part(nil, op), create...)
		return try(opMulti, end(part(both, opDelete).Text(node).Int32(-1)))
	}
	container, ttl := x.node+"-container", x.node+"-ttl"
	x.f.deep.Containers = inOne(opCreateContainer, container, x.newNode(container, 4))
	x.f.deep.TTL = inOne(opCreateTTL, ttl, x.newNode(ttl, 5).Int64(time.Minute.Milliseconds()))
	x.f.deep.Recursive = try(opAddWatch, about(x.node).Int32(1))
}

// readRate reads the leader's clock once more after a pause, and compares.
func (x *scratch) readRate(ctx context.Context) {
	if len(x.clock) == 0 {
		return
	}
	first := best(x.clock)
	pause := time.NewTimer(ratePause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	x.clock = nil
	x.timeWrites(writes / 2)
	v := x.at
	v.Clock = &Clock{From: "committed writes", Offset: Millis(first.offset()), Error: Millis(first.half())}
	if len(x.clock) == 0 {
		return
	}
	last := best(x.clock)
	passed := last.middle().Sub(first.middle())
	v.Clock.Rate = float64(last.clock.Sub(first.clock)) / float64(passed)
	v.Clock.RateError = float64(first.half()+last.half()) / float64(passed)
}

// best returns the reading that is known best.
func best(all []reading) reading {
	return slices.MinFunc(all, func(a, b reading) int { return int(a.half() - b.half()) })
}

func (r reading) middle() time.Time { return r.sent.Add(r.got.Sub(r.sent) / 2) }

// half is how far the clock may be from what the reading says.
func (r reading) half() time.Duration { return r.got.Sub(r.sent)/2 + time.Millisecond }

func (r reading) offset() time.Duration { return r.clock.Sub(r.middle().Round(0)) }

// delete deletes the scratch node, by a session of its own.
func (x *scratch) delete() {
	c, err := x.f.settings.openLoggedIn(x.f.settings.late, x.at.Address)
	if err != nil {
		x.f.missed("whether the scratch node "+x.node+" is deleted", text(err)+"; it goes with its session, after "+
			x.own.granted.String())
		return
	}
	defer c.close()
	_, code, err := c.request(opDelete, about(x.node).Int32(-1))
	if err == nil && code != codeOK && code != codeNoNode {
		err = errors.New(refusal(code))
	}
	if err != nil {
		x.f.missed("whether the scratch node "+x.node+" is deleted", text(err))
	}
}

// openLoggedIn opens a session, presents the credentials, and keeps the session alive until it is closed.
func (s *Settings) openLoggedIn(ctx context.Context, address string) (*session, error) {
	c, err := s.open(ctx, address, s.Timeout, identity{}, false)
	if err != nil {
		return nil, err
	}
	if err := c.logIn(ctx, address); err != nil {
		c.close()
		return nil, err
	}
	go c.keepAlive()
	return c, nil
}

// fullRequest is the size of a request that a server with its default jute.maxbuffer takes.
const fullRequest = 1_000_000

// askSizes finds out whether the servers take large requests: they look for a node with a long name.
func (f *Facts) askSizes(ctx context.Context) {
	var wait sync.WaitGroup
	for _, v := range f.answering() {
		wait.Go(func() {
			takes, known := v.takes(ctx, &f.settings, fullRequest)
			if !known || takes {
				return
			}
			least, most := 0, fullRequest
			for range 6 {
				middle := (least + most) / 2
				if takes, known = v.takes(ctx, &f.settings, middle); !known {
					break
				}
				if takes {
					least = middle
				} else {
					most = middle
				}
			}
			v.largest, v.tooLarge = least, most
		})
	}
	wait.Wait()
}

// takes reports whether the server answers a request of so many bytes, and whether that is known.
func (v *Server) takes(ctx context.Context, s *Settings, size int) (takes, known bool) {
	c, err := s.openLoggedIn(ctx, v.Address)
	if err != nil {
		return false, false
	}
	defer c.close()
	c.trying = true
	_, _, err = c.request(opExists, about("/"+strings.Repeat("x", size)).Bool(false))
	return err == nil, !silent(err) && ctx.Err() == nil
}
