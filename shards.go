package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/usercode"
	"github.com/incumbent-go/incumbent/machines"
)

// ShardsOptions are the options of Shards. The zero value is good.
type ShardsOptions struct {
	// ID, up to 1024 bytes of UTF-8, should be the same after a restart: shards that left this member go back to it. No
	// other member may have it: of two with one ID, only the newer gets shards. Empty means host/pid/n, of which n
	// differs in each Shards of a process, or with NoID another one in each Run.
	ID   string
	NoID bool
	// Weight says how many shards this member gets, compared with the others. Zero is 1.
	Weight int
	// MaxOwned is the most shards that this member takes. Zero means no limit.
	MaxOwned int
	// Settle is for how long the members have to stay the same before shards of members move. Shards of a member that
	// is gone or unhealthy never wait. Zero means the session timeout. It counts on the member that writes the
	// assignment, so all should have the same.
	Settle time.Duration
	// Retry and WorkGrace, of the work on a shard: see LatchOptions. If Retry gives up, attempts go on every 30 s.
	Retry     RetryPolicy
	WorkGrace time.Duration
	// Healthy and the next three: see LatchOptions. The shards of an unhealthy member go to others.
	Healthy        func(context.Context) error
	HealthInterval time.Duration
	HealthTimeout  time.Duration
	HealthFailures int
}

// latch returns those of the options that a latch has, too.
func (o ShardsOptions) latch() LatchOptions {
	return LatchOptions{ID: o.ID, NoID: o.NoID, Retry: o.Retry, WorkGrace: o.WorkGrace, Healthy: o.Healthy,
		HealthInterval: o.HealthInterval, HealthTimeout: o.HealthTimeout, HealthFailures: o.HealthFailures}
}

// maxShardID is the most bytes of an ID: the assignment names it twice, and others could not write one with a long ID.
const maxShardID = 1024

// shardsMade counts the members of this process that were given no ID.
var shardsMade atomic.Int64

// Shards is one member of a group that deals n shards, numbered from 0, out among its members. Each shard has at most
// one owner by the clock. It moves only after the work on it has returned.
//
// One of the members, elected by a latch, writes the assignment. It gives the shards of a member that is gone to
// others at once. Other shards move only when the members have stayed the same for a while (Settle), and then the
// fewest that leave each member at most one shard away from its share: of two shards, one of two members may keep both.
// If the elected one dies, the work of the others goes on.
//
// All members have to be for the same number of shards. To change it, end them all, and delete the node assignment
// below the path. The path is the group's alone: kazoo's SetPartitioner takes every child of its party for a member.
// All methods are safe to call from any goroutine.
type Shards struct {
	client  *Client
	path    string
	shards  int
	options ShardsOptions

	mu      sync.Mutex
	present *shardsRun // nil: Run does not run

	listeners async.Listeners[change]
}

// Shards returns a member of the group at path, for n shards, from 1 to 4096. It does nothing before Run. One client
// has one member of a group. The error says what is wrong with the path or an option, or is ErrClosed.
func (c *Client) Shards(path string, n int, options ShardsOptions) (*Shards, error) {
	c.opened()
	if err := cmp.Or(arguments.CheckLine(path), checkOptions(options)); err != nil {
		return nil, err
	}
	switch {
	case n < 1 || n > machines.MaxShards:
		return nil, fmt.Errorf("incumbent: %d shards: want from 1 to %d", n, machines.MaxShards)
	case options.Weight > machines.MaxShardWeight:
		return nil, fmt.Errorf("incumbent: ShardsOptions.Weight is %d: want at most %d", options.Weight,
			machines.MaxShardWeight)
	case len(options.ID) > maxShardID || !utf8.ValidString(options.ID):
		return nil, fmt.Errorf("incumbent: ShardsOptions.ID is %.40q: want up to %d bytes of UTF-8", options.ID,
			maxShardID)
	case c.core.Closing():
		return nil, calls.AsError("shards", path, errClientClosed)
	}
	if id := c.idOr(options.latch()); id != options.ID { // none was given
		options.ID = fmt.Sprintf("%s/%d", id, shardsMade.Add(1))
	}
	return &Shards{client: c, path: path, shards: n, options: options}, nil
}

// Run is a member until ctx ends. It calls f for each shard that this member owns, on a goroutine of its own. F must
// return when its Shard's context ends: the shard stays this member's until then. That context derives from ctx. If f
// returns an error, or panics, it is called again after a back-off, while the shard is owned. If it returns nil, it is
// called again when the shard is owned again.
//
// When ctx ends, Run waits until all calls have returned, or WorkGrace is over. Each shard goes to another member as
// its call returns. Then the member's node is deleted, and Run returns nil, or an error if a deadline has ended ctx. It
// may be called again. Errors: ErrAlreadyStarted while another Run runs; ErrClosed; ErrLimitDiffers if the group is for
// another number of shards; what the ensemble refuses permanently (ErrNoAuth, …); ErrNotDeleted if the node is not
// deleted within a session timeout. Err has the failures that pass.
func (s *Shards) Run(ctx context.Context, f func(*Shard) error) error {
	s.check(ctx)
	if f == nil {
		caller.Misuse("needs a function to run for each shard")
	}
	r, err := s.begin(ctx, f)
	if err != nil {
		return err
	}
	defer func() {
		s.mu.Lock()
		s.present = nil
		s.mu.Unlock()
	}()
	if err := r.base.Start(r.ctx, "run"); err != nil && ctx.Err() == nil {
		r.cancel(err)
	}
	select {
	case <-r.ctx.Done():
	case <-s.client.core.Closed:
		r.cancel(ErrClosed)
	}
	_, _, _ = r.base.Begin(events.Event{Kind: events.CommandClose})
	select {
	case <-r.base.Works.Idle():
	case <-s.client.core.Closed:
	}
	if ctx.Err() == nil {
		err = calls.AsError("run", s.path, context.Cause(r.ctx))
	} else {
		err = r.endedWith(ctx, r.hasOwned())
	}
	late, cancel := calls.Outlive(ctx)
	defer cancel()
	return fault.Together(err, r.Close(late))
}

// begin begins a Run.
func (s *Shards) begin(ctx context.Context, f func(*Shard) error) (*shardsRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present != nil {
		return nil, calls.AsError("run", s.path, ErrAlreadyStarted)
	}
	r := &shardsRun{group: s, f: f, shards: map[int]*participant{}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.prepare(s.client, s.path, s.options.latch())
	r.what = whatShards
	r.parts = func(f func(*participant)) { r.each(func(_ int, one *participant) { f(one) }) }
	open := s.options.latch().open(s.path, s.client.config)
	open.Data = nil
	delete(open.Options, machines.OptionTokenFloor)
	open.Options[machines.OptionShards] = strconv.Itoa(s.shards)
	if s.options.ID != "" {
		open.Options[machines.OptionInstance] = s.options.ID
	}
	open.Options[machines.OptionWeight] = strconv.Itoa(max(s.options.Weight, 1))
	if s.options.MaxOwned > 0 {
		open.Options[machines.OptionMaxOwned] = strconv.Itoa(s.options.MaxOwned)
	}
	settle := s.options.Settle
	if settle == 0 {
		settle = s.client.core.Timeout()
	}
	open.Options[machines.OptionSettle] = settle.String()
	_, err := s.client.register(machines.ShardsRecipe, func(id events.ID) receiver {
		r.base.Machine = id
		return r
	}, open)
	if err != nil {
		r.cancel(err)
		return nil, calls.AsError("run", s.path, err)
	}
	s.present = r
	return r, nil
}

func (s *Shards) running() *shardsRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.present
}

func (s *Shards) check(ctx context.Context) {
	if s == nil {
		caller.Misuse("was called on nil Shards: Client.Shards makes them")
	}
	s.client.check(ctx)
}

// Owned returns the shards that this member may be believed to own at this instant.
func (s *Shards) Owned() []int {
	var all []int
	if r := s.running(); r != nil {
		r.each(func(n int, one *participant) {
			if one.HasLeadership() {
				all = append(all, n)
			}
		})
	}
	return all
}

// Path returns the group's directory.
func (s *Shards) Path() string { return s.path }

// ID returns the member's id; "" with NoID.
func (s *Shards) ID() string { return s.options.ID }

// AddListener has the functions called from now on, in this Run and in later ones, until remove is called. NotOwned may
// be called before the shard's function has returned.
func (s *Shards) AddListener(l ShardListener) (remove func()) {
	s.check(context.Background())
	call := func(c change) {
		switch {
		case c.lost == nil && l.Owned != nil:
			l.Owned(c.shard, c.term)
		case c.lost != nil && l.NotOwned != nil:
			l.NotOwned(c.shard, c.term, c.lost)
		}
	}
	return s.listeners.Add(s.client.listener(s.path, call), func() (all []change) {
		if r := s.running(); r != nil {
			r.each(func(n int, one *participant) {
				if t := one.currentTerm(); t != nil {
					all = append(all, change{term: t.Term, shard: n})
				}
			})
		}
		return all
	})
}

// Phase returns the machine's state, by its name in docs/statecharts; "latent" while Run does not run.
func (s *Shards) Phase() string {
	if r := s.running(); r != nil {
		return r.Phase()
	}
	return "latent"
}

// Err returns the present failure, ErrWorkRunning for work that goes on long after it had to end, or ErrNotConnected;
// nil if there is none, or Run does not run. The member goes on trying.
func (s *Shards) Err() error {
	r := s.running()
	if r == nil {
		return nil
	}
	all := []error{r.Err()}
	r.each(func(_ int, one *participant) { all = append(all, one.overdueWork()) })
	return fault.Together(all...)
}

// shardsRun is one Run: the handle of its machine.
type shardsRun struct {
	participant
	group  *Shards
	f      func(*Shard) error
	ctx    context.Context // ends with Run's, or with why Run ends
	cancel context.CancelCauseFunc

	shards map[int]*participant // under mu: what holds the terms of each that was ever owned
}

// shard returns what holds the terms of a shard.
func (r *shardsRun) shard(n int) *participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.shards[n]
	if one == nil {
		one = &participant{}
		one.prepare(r.client, r.Path(), r.group.options.latch())
		one.what, one.base.Machine = whatShards, r.base.Machine
		r.shards[n] = one
	}
	return one
}

// hasOwned reports whether any shard was ever owned.
func (r *shardsRun) hasOwned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.shards) > 0
}

// each calls a function with what holds the terms of each shard that was ever owned, in order.
func (r *shardsRun) each(f func(n int, one *participant)) {
	for n := range r.group.shards {
		r.mu.Lock()
		one := r.shards[n]
		r.mu.Unlock()
		if one != nil {
			f(n, one)
		}
	}
}

// notice takes the machine's notices; on the loop's goroutine.
func (r *shardsRun) notice(n events.Notify) {
	switch n.What {
	case events.Delivered:
		r.own(int(n.Work)-1, n)
	case events.Withdrawn:
		r.disown(int(n.Work)-1, n)
	default:
		if r.base.NoteTrouble(n); n.What == events.Failed && calls.EndsRun(n.Code) {
			r.cancel(asError(n.Code, n.Text))
		}
	}
}

func (r *shardsRun) answer(a events.Answer) { r.base.Deliver(a) }
func (r *shardsRun) entered(now events.Entered) {
	r.enterLine(now)
	if now.Class == events.ClassClosed {
		r.cancel(ErrClosed)
	}
}

// own begins a shard's term, and calls the function on a goroutine of its own.
func (r *shardsRun) own(n int, notice events.Notify) {
	one := r.shard(n)
	t := one.newTerm(notice)
	t.shard = strconv.Itoa(n)
	one.checkBegin(t)
	r.group.listeners.Send(change{term: t.Term, shard: n}, func() { one.setTerm(t) })
	one.logTerm(t, nil)
	one.enterShard(shardOwned)
	one.observeBegin(t)
	done := events.Event{Work: uint64(n) + 1}
	if !r.base.Works.Begin() {
		r.base.Post(events.Event{Kind: events.WorkReturned, Work: done.Work})
		return
	}
	held := t.hold(r.ctx, r.client, func(_ *Leadership, late error) { r.returned(done, late) })
	held.worksFor(func(l *Leadership) error { return r.f(&Shard{ID: n, held: l}) }, r.f)
	go func() {
		defer held.done(nil)
		labels := pprof.Labels("incumbent", "shards", "path", r.Path(), "shard", t.shard)
		pprof.Do(held.ctx, labels, func(context.Context) { r.work(n, held) })
	}()
}

// The first and the longest pause after a shard's function has failed. Each is twice as long as the one before.
const minShardPause, maxShardPause = 250 * time.Millisecond, 30 * time.Second

// work calls the function, and again after each failure, until it succeeds or the shard's context ends.
func (r *shardsRun) work(n int, held *Leadership) {
	for pause := minShardPause; held.ctx.Err() == nil; pause = min(2*pause, maxShardPause) {
		failed := false
		r.client.core.Log.Guard("the shard's function", held.term.Path, func() error { return held.work(held) },
			func(err error) { failed = !saysTheEnd(held.ctx, err); r.logFailedShard(n, failed, err) })
		if !failed || !calls.Sleep(held.ctx, pause) {
			return
		}
	}
}

// disown ends a shard's term.
func (r *shardsRun) disown(n int, notice events.Notify) {
	one := r.shard(n)
	t, lost := one.finishTerm(notice)
	r.group.listeners.Send(change{t.Term, lost, n}, func() { one.setTerm(nil) })
	one.logTerm(t, lost)
	one.enterShard(shardGone)
	one.countEnd(t, lost)
}

// logFailedShard logs that a shard's function has failed. A panic was logged.
func (r *shardsRun) logFailedShard(n int, failed bool, err error) {
	if !failed || usercode.Ended(err) {
		return
	}
	r.client.core.Log.Log(zerolog.WarnLevel, "the work on a shard failed", func(e *zerolog.Event) {
		addFailure(r.identity(e).Int("shard", n), err)
	})
}

func (r *shardsRun) asParticipant() *participant { return &r.participant }
