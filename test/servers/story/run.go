package story

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

const (
	within = 90 * time.Second       // for anything to happen
	glance = 100 * time.Millisecond // before a read that failed is tried again
)

// scenario is one way for servers to lose each other.
type scenario struct {
	name string
	// cast names the leader's server and those of its rival.
	cast func(zkLeader *ensemble.Server, followers []*ensemble.Server) (of *ensemble.Server, rival []*ensemble.Server)
	cut  func(e *ensemble.Ensemble, zkLeader *ensemble.Server, of *ensemble.Server)
	// fade is when, after the cut, the leader's own link to its server falls silent too; 0 is never.
	fade time.Duration
}

var scenarios = []scenario{
	{
		name: "cut-off follower",
		cast: func(l *ensemble.Server, f []*ensemble.Server) (*ensemble.Server, []*ensemble.Server) {
			return f[0], []*ensemble.Server{f[1], l}
		},
		cut: func(e *ensemble.Ensemble, l, of *ensemble.Server) { e.Part(of, l) },
	},
	{
		name: "deposed leader",
		cast: func(l *ensemble.Server, f []*ensemble.Server) (*ensemble.Server, []*ensemble.Server) { return l, f },
		cut:  func(e *ensemble.Ensemble, l, _ *ensemble.Server) { e.CutUnseen(l) },
	},
	{
		name: "and then the link to the client",
		cast: func(l *ensemble.Server, f []*ensemble.Server) (*ensemble.Server, []*ensemble.Server) { return l, f },
		cut:  func(e *ensemble.Ensemble, l, _ *ensemble.Server) { e.CutUnseen(l) },
		fade: 9 * time.Second,
	},
}

// kind is whose code it is.
type kind string

const (
	byUs       kind = "incumbent"
	byUsRiding kind = "incumbent, ride out"
	byDeaf     kind = "heartbeat off"
	byLock     kind = "zk.Lock"
	byCurator  kind = "Curator"
)

var kinds = []kind{byUs, byUsRiding, byDeaf, byLock, byCurator}

// promised reports whether this kind promises never to overlap.
func (k kind) promised() bool { return k == byUs || k == byUsRiding }

// outcome is what came of one leader and its rival. Times are from the cut.
type outcome struct {
	scenario string
	kind     kind
	timeout  time.Duration
	a, b     []span
}

// gap is for how long nobody believed between the two, at the least.
func (o outcome) gap() time.Duration {
	if len(o.a) == 0 || len(o.b) == 0 {
		return 0
	}
	return o.b[0].from - o.a[len(o.a)-1].toBy
}

func (o outcome) overlap() (sure, most time.Duration) { return overlap(o.a, o.b) }

// pair is a leader and its rival while they are watched.
type pair struct {
	kind    kind
	timeout time.Duration
	path    string
	a, b    believer
	ta, tb  *track
}

// take is one run of a scenario: every kind with every timeout at once, on the same servers, cut in the same instant.
type take struct {
	t       testing.TB
	e       *ensemble.Ensemble
	watch   stopwatch
	sampler *sampler
	java    *curator
	onlook  *zk.Conn
	link    *proxy.Link // from the leaders to their server
	pairs   []*pair
}

// run plays a scenario once.
func run(t testing.TB, e *ensemble.Ensemble, s scenario, timeouts []time.Duration, classPath string) []outcome {
	t.Helper()
	zkLeader, followers := e.Whole()
	of, rival := s.cast(zkLeader, followers)
	watch := stopwatch{time.Now()}
	k := &take{t: t, e: e, watch: watch, sampler: newSampler(watch), java: startCurator(t, watch, classPath)}
	defer k.strike()
	k.onlook = openConn(t, e.Addrs(rival...))
	var err error
	if k.link, err = proxy.New(of.Addr()); err != nil {
		t.Fatal(err)
	}
	for _, timeout := range timeouts {
		for _, kind := range kinds {
			p := &pair{kind: kind, timeout: timeout, path: "/story-" + rand.Text()}
			if _, err := k.onlook.Create(p.path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Fatal(err)
			}
			p.a = k.enlist(p, "a", k.link.Addr())
			p.ta = k.sampler.add(p.a.believes)
			k.pairs = append(k.pairs, p)
		}
	}
	for _, p := range k.pairs {
		k.await(p, "its leader to lead", p.ta, true)
	}
	for _, p := range k.pairs {
		p.b = k.enlist(p, "b", e.Addrs(rival...))
		p.tb = k.sampler.add(p.b.believes)
	}
	for _, p := range k.pairs {
		k.awaitLine(p)
	}
	k.season()
	cut := watch.at()
	s.cut(e, zkLeader, of)
	if s.fade > 0 {
		fade := time.AfterFunc(s.fade, func() {
			k.link.Silence(proxy.Forth)
			k.link.Silence(proxy.Back)
		})
		defer fade.Stop()
	}
	for _, p := range k.pairs {
		k.await(p, "its leader to stop", p.ta, false)
		k.await(p, "its rival to lead", p.tb, true)
	}
	k.sampler.stop()
	return k.outcomes(s, cut)
}

func (k *take) enlist(p *pair, who, servers string) believer {
	k.t.Helper()
	w := where{servers: servers, path: p.path, timeout: p.timeout, tick: k.e.Tick(), sync: k.e.SyncLimit()}
	switch p.kind {
	case byUs, byUsRiding:
		return openOurs(k.t, w, p.kind == byUsRiding)
	case byDeaf:
		return openDeaf(k.t, w)
	case byLock:
		return openLock(k.t, w)
	}
	return k.java.latch(who+p.path, w)
}

// await waits until a belief is held, or is not any more.
func (k *take) await(p *pair, what string, t *track, want bool) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		holds, changed := k.sampler.state(t)
		if holds == want {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			k.t.Fatalf("%s at %s: waited in vain for %s (%v, %v)", p.kind, p.timeout, what, p.a, p.b)
		}
	}
}

// season lets every leader lead for half its session timeout: until heartbeats have run for a while, belief is given
// for less than it is later.
func (k *take) season() {
	for _, p := range k.pairs {
		<-time.After(k.sampler.began(p.ta) + p.timeout/2 - k.watch.at()) // pause: how long they lead before the cut
	}
}

// awaitLine waits until both are in line.
func (k *take) awaitLine(p *pair) {
	k.t.Helper()
	overdue := time.After(within)
	for {
		names, _, changed, err := k.onlook.ChildrenW(p.path)
		if err == nil && len(names) == 2 {
			return
		}
		var again <-chan time.Time
		if err != nil {
			again = time.After(glance)
		}
		select {
		case <-changed:
		case <-again:
		case <-overdue:
			k.t.Fatalf("%s at %s: its line never had two in it: %v", p.kind, p.timeout, err)
		}
	}
}

func (k *take) outcomes(s scenario, cut time.Duration) []outcome {
	var all []outcome
	for _, p := range k.pairs {
		o := outcome{scenario: s.name, kind: p.kind, timeout: p.timeout}
		if p.kind == byCurator {
			o.a, o.b = k.java.all("a"+p.path), k.java.all("b"+p.path)
		} else {
			o.a, o.b = k.sampler.all(p.ta), k.sampler.all(p.tb)
		}
		for _, spans := range [][]span{o.a, o.b} {
			for i := range spans {
				spans[i].from, spans[i].fromBy = spans[i].from-cut, spans[i].fromBy-cut
				spans[i].to, spans[i].toBy = spans[i].to-cut, spans[i].toBy-cut
			}
		}
		all = append(all, o)
	}
	return all
}

// strike ends everything, heals the ensemble and waits until it is whole.
func (k *take) strike() {
	k.t.Helper()
	k.e.Heal()
	done := make(chan struct{}, 2*len(k.pairs))
	n := 0
	for _, p := range k.pairs {
		for _, b := range []believer{p.a, p.b} {
			if b != nil {
				n++
				go func() { b.close(); done <- struct{}{} }()
			}
		}
	}
	for range n {
		<-done
	}
	k.java.end()
	k.onlook.Close()
	if k.link != nil {
		k.link.Close()
	}
	k.e.Whole()
}

func (o outcome) String() string {
	sure, most := o.overlap()
	return fmt.Sprintf("%s, T=%s, %s: %.3f–%.3f s", o.scenario, o.timeout, o.kind, sure.Seconds(), most.Seconds())
}
