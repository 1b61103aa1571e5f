package why

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

var worlds = flag.Int("worlds", 0, "play so many worlds whose faults are known")

// simulated is a simulated world whose faults are known: its observer.
type simulated struct {
	world.Idle
	*world.World
	dice    *rand.Rand
	records map[int][]events.Record
	txns    []txnlog.Txn
	skew    []int64 // of each client's wall clock
	struck  []strike
	beliefs []*belief
	blind   bool // clients see nobody else in their line: they break the promise
}

// strike is a fault and the leader that it struck.
type strike struct {
	action world.Action
	token  int64
	client int
}

// belief is a time in which a client had the right to believe, by the world's clock.
type belief struct {
	client     int
	token      int64
	from, till int64
	open       bool
}

func (s *simulated) Recorded(c *world.Client, r events.Record) {
	s.records[c.ID()] = append(s.records[c.ID()], r)
}

// Feeding takes the others out of a listing, if the clients are blind.
func (s *simulated) Feeding(_ *world.Client, env *events.Envelope) {
	if s.blind && env.Event.Kind == events.ReplyChildren && len(env.Event.Children) > 1 {
		env.Event.Children = slices.DeleteFunc(slices.Clone(env.Event.Children), func(name string) bool {
			return orderOf(name) == 0
		})
	}
}

func (s *simulated) Committed(p *world.Proposal) {
	t := txnlog.Txn{Zxid: p.Txn.Zxid, Session: p.Txn.Session, Time: p.Txn.Time, Kind: int32(p.Txn.Code)}
	if p.Origin != nil || p.Server != nil {
		t.Cxid = 1
	}
	for _, one := range append([]zkmem.Txn{p.Txn}, p.Txn.Ops...) {
		switch one.Code {
		case zkmem.OpCreate, zkmem.OpDelete, zkmem.OpCloseSession:
			t.Changes = append(t.Changes,
				txnlog.Change{Kind: int32(one.Code), Path: one.Path, Ephemeral: one.Owner > 0})
		}
	}
	s.txns = append(s.txns, t)
}

// ahead returns by how much a client's clock is ahead of the world's.
func (s *simulated) ahead(c *world.Client) int64 { return c.Clock() - s.Now() }

func (s *simulated) Published(c *world.Client, _ events.Deadline) {
	for _, b := range s.beliefs {
		switch {
		case b.client != c.ID() || !b.open:
		case c.Deadline().Until == 0:
			b.till = min(b.till, s.Now())
		default:
			b.till = c.Deadline().Until - s.ahead(c)
		}
	}
}

func (s *simulated) Notice(c *world.Client, id events.ID, n events.Notify) {
	if strings.HasPrefix(string(id), "latch-") && strings.Contains(n.Path, "/leader/election/latch/") {
		return // that a job's election opens
	}
	switch n.What {
	case events.Elected:
		s.beliefs = append(s.beliefs, &belief{c.ID(), n.Token, s.Now(), c.Deadline().Until - s.ahead(c), true})
	case events.Stopped:
		for _, b := range s.beliefs {
			if b.client == c.ID() && b.open {
				b.open, b.till = false, min(b.till, s.Now())
			}
		}
	}
}

// twoAtOnce reports whether two clients had the right at once, and for how long at most.
func (s *simulated) twoAtOnce() (most time.Duration) { return s.twoBefore(endless) }

// twoBefore does so for the time before an instant.
func (s *simulated) twoBefore(end int64) (most time.Duration) {
	for i, a := range s.beliefs {
		for _, b := range s.beliefs[:i] {
			if both := min(a.till, b.till, end) - max(a.from, b.from); a.client != b.client {
				most = max(most, time.Duration(both))
			}
		}
	}
	return most
}

// newSimulated plays a world of three latches, with faults that strike the one that leads.
func newSimulated(t testing.TB, seed uint64, blind bool) *simulated {
	return newSimulatedAt(t, seed, blind, cast{recipe: "latch", path: "/jobs/x"})
}

// cast is who takes part in a world.
type cast struct {
	recipe, path string
	names        [3]string
	doubles      bool // another client is struck with the one that leads, sometimes
}

// newSimulatedAt is newSimulated of another cast.
func newSimulatedAt(t testing.TB, seed uint64, blind bool, who cast) *simulated {
	s := &simulated{blind: blind, dice: rand.New(rand.NewPCG(seed, 18)), records: map[int][]events.Record{}}
	tick := time.Duration(200+s.dice.IntN(1800)) * time.Millisecond
	script := world.Script{Seed: int64(seed), Tick: tick, SyncLimit: 3 + s.dice.IntN(5),
		Timeout: tick * time.Duration(3+s.dice.IntN(12)), RideOut: s.dice.IntN(5) == 0}
	for _, name := range who.names {
		script.Clients = append(script.Clients, world.Program{Recipe: who.recipe, Path: who.path, Name: name})
		s.skew = append(s.skew, s.dice.Int64N(int64(2*time.Hour))-int64(time.Hour))
	}
	w, err := world.New(script, s)
	if err != nil {
		t.Fatal(err)
	}
	s.World = w
	for _, server := range w.Ensemble().Servers() {
		server.SetClockAhead(s.dice.Int64N(20_000) - 10_000)
	}
	for range 2 {
		w.Until(w.Now() + int64(4*script.Timeout+script.Timeout*time.Duration(s.dice.IntN(100))/100))
		if who.doubles && s.dice.IntN(2) == 0 {
			s.strikeAnother(t, script)
		}
		s.strike(t, script)
	}
	w.Until(w.Now() + int64(6*script.Timeout+10*tick))
	return s
}

// strikeAnother does something to a client that does not lead.
func (s *simulated) strikeAnother(t testing.TB, script world.Script) {
	for _, c := range s.Clients() {
		if c.Holds() || c.Conn() == nil || c.Dead() || c.Paused() {
			continue
		}
		do := []string{world.Freeze, world.Mute, world.Kill}[s.dice.IntN(3)]
		a := world.Action{At: s.Now() + 1, Do: do, Who: c.ID()}
		if do == world.Freeze {
			a.For = 2 * script.Timeout
		}
		if err := s.Add(a); err != nil {
			t.Fatal(err)
		}
		return
	}
}

var strikes = []string{world.Close, world.Resign, world.Kill, world.Freeze, world.Cut, world.Mute, world.Expire,
	world.Delete, world.Isolate, world.Crash, world.FreezeServer, world.SlowDisk, world.Depose}

// strike does something to the client that leads, or to its server.
func (s *simulated) strike(t testing.TB, script world.Script) {
	for _, c := range s.Clients() {
		if !c.Holds() || c.Conn() == nil || c.Dead() || c.Paused() {
			continue
		}
		a := world.Action{At: s.Now() + 1, Do: strikes[s.dice.IntN(len(strikes))], Who: c.ID()}
		switch a.Do {
		case world.Freeze:
			a.For = script.Timeout*6/10 + time.Duration(s.dice.Int64N(int64(2*script.Timeout)))
		case world.Isolate, world.Crash:
			a.Who, a.For = c.Conn().Server().ID(), script.Timeout+time.Duration(s.dice.Int64N(int64(script.Timeout)))
		case world.FreezeServer:
			a.Who, a.For = c.Conn().Server().ID(), time.Duration(script.SyncLimit)*script.Tick*8/10
		case world.SlowDisk:
			a.Who, a.For = 0, script.Timeout
		case world.Depose:
			a.Who, a.For = 0, time.Duration(script.SyncLimit)*script.Tick
		}
		token := int64(0)
		for _, b := range s.beliefs {
			if b.client == c.ID() && b.open {
				token = b.token
			}
		}
		if err := s.Add(a); err != nil {
			t.Fatal(err)
		}
		s.struck = append(s.struck, strike{a, token, c.ID()})
		return
	}
}

// each gives a slice of records to Read.
type each struct{ left []events.Record }

func (e *each) Next() (events.Record, error) {
	if len(e.left) == 0 {
		return events.Record{}, io.EOF
	}
	r := e.left[0]
	e.left = e.left[1:]
	return r, nil
}

// logs returns what Read makes of the clients' records.
func (s *simulated) logs(t testing.TB) (all []*Log) {
	for _, c := range s.Clients() {
		all = append(all, s.log(t, c, len(s.records[c.ID()])))
	}
	return all
}

// log returns what Read makes of the first records of a client.
func (s *simulated) log(t testing.TB, c *world.Client, most int) *Log {
	startAt := s.ahead(c)
	h := events.Header{Start: time.Unix(1_800_000_000, s.skew[c.ID()]).UTC().Format(time.RFC3339Nano), StartAt: startAt}
	l, err := Read(fmt.Sprint("client", c.ID()), h, &each{s.records[c.ID()][:most]})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// right are the causes that say what happened, or less than that and nothing else.
var right = map[string][]Cause{
	world.Close: {CauseClosed}, world.Resign: {CauseResigned}, world.Kill: {CauseKilled}, world.Freeze: {CausePaused},
	world.Cut: {CauseConnectionClosed}, world.Mute: {CauseSilent}, world.Expire: {CauseSessionExpired},
	world.Delete: {CauseDeleted},
	world.Isolate: {CauseServerCutOff, CauseUnconfirmed, CauseSessionExpired, CauseConnectionClosed, CauseSilent,
		CauseSlowEnsemble},
	world.Crash:        {CauseConnectionClosed},
	world.FreezeServer: {CauseSilent, CauseSlowEnsemble, CauseUnconfirmed, CauseServerCutOff},
	world.SlowDisk:     {CauseSlowEnsemble},
	world.Depose:       {CauseConnectionClosed, CauseServerCutOff, CauseUnconfirmed, CauseSlowEnsemble, CauseSilent},
}

// tally sums up what Explain made of many worlds.
type tally struct {
	moves, wrong          int
	verdicts              map[Verdict]int
	causes                map[string]int
	clocks, clocksWrong   int
	wrongVerdicts, misses []string
}

func (y *tally) take(t testing.TB, seed uint64) {
	s := newSimulated(t, seed, false)
	var txns []txnlog.Txn
	if seed%2 == 0 {
		txns = s.txns
	}
	r := Explain(s.logs(t), txns, Options{})
	y.verdicts[r.Verdict]++
	both := s.twoAtOnce()
	if never := r.Verdict == NeverProven || r.Verdict == NeverMeasured; both > 0 && never ||
		both <= 0 && r.Verdict == TwoAtOnce {
		y.wrongVerdicts = append(y.wrongVerdicts,
			fmt.Sprintf("world %d: %s (%s), and two led at once for %s", seed, r.Verdict, r.Why, both))
	}
	y.takeClocks(s, r)
	for i, hit := range s.struck {
		until := s.Now()
		if i+1 < len(s.struck) {
			until = s.struck[i+1].action.At
		}
		y.takeStrike(seed, s, r, hit, until)
	}
}

// takeStrike looks at the cause of the move that followed a fault.
func (y *tally) takeStrike(seed uint64, s *simulated, r *Report, hit strike, until int64) {
	i := slices.IndexFunc(s.Outcomes(), func(o world.Outcome) bool { return o.Action.At == hit.action.At })
	if s.Outcomes()[i].Why != nil {
		return
	}
	for _, m := range r.Moves {
		if m.From == nil || m.From.Token != hit.token || r.logs[hit.client] != m.From.Log {
			continue
		}
		ended := m.Ending.At - s.ahead(s.Clients()[hit.client])
		if ended < hit.action.At || ended > until { // another term on the same node
			continue
		}
		y.moves++
		y.causes[hit.action.Do+" → "+string(m.Ending.Cause)]++
		if !slices.Contains(right[hit.action.Do], m.Ending.Cause) {
			y.wrong++
			y.misses = append(y.misses, fmt.Sprintf("world %d, %s: %s: %s", seed, hit.action.Do, m.Ending.Cause,
				r.paragraph(m.Path, m)))
		}
		return
	}
}

// takeClocks compares the offsets of clocks with the true ones.
func (y *tally) takeClocks(s *simulated, r *Report) {
	for _, m := range r.Moves {
		if m.From == nil || m.To == nil || m.From.Log == m.To.Log {
			continue
		}
		clients := s.Clients()
		a, b := slices.Index(r.logs, m.From.Log), slices.Index(r.logs, m.To.Log)
		is := (m.To.ElectedAt - s.ahead(clients[b])) - (m.Ending.At - s.ahead(clients[a]))
		said := r.h.clocks.between(m.From.Log, m.Ending.At, m.To.Log, m.To.ElectedAt)
		y.clocks++
		if is < said.lo || is > said.hi {
			y.clocksWrong++
		}
	}
}

// In worlds whose faults are known, the cause is right, the true offset of the clocks is within
// the error that is said, and a verdict is never wrong.
func TestWorldsWhoseFaultsAreKnown(t *testing.T) {
	n := selection.Of(t, "worlds", 60, 70, 180)
	if *worlds > 0 {
		n = *worlds
	}
	y := &tally{verdicts: map[Verdict]int{}, causes: map[string]int{}}
	for seed := range n {
		y.take(t, uint64(seed))
	}
	t.Logf("%d moves, %d causes wrong; %d offsets, %d wrong; %v", y.moves, y.wrong, y.clocks, y.clocksWrong, y.verdicts)
	for _, key := range slices.Sorted(maps.Keys(y.causes)) {
		t.Logf("%5d %s", y.causes[key], key)
	}
	if y.moves < n/2 || y.clocks < n/2 {
		t.Errorf("%d moves and %d offsets in %d worlds", y.moves, y.clocks, n)
	}
	if y.wrong*100 > y.moves {
		t.Errorf("%d of %d causes are wrong, at most one in a hundred may be:\n%s", y.wrong, y.moves,
			strings.Join(y.misses[:min(20, len(y.misses))], "\n"))
	}
	if y.clocksWrong > 0 {
		t.Errorf("%d of %d true offsets are outside the error", y.clocksWrong, y.clocks)
	}
	for _, wrong := range y.wrongVerdicts {
		t.Error(wrong)
	}
}
