//go:build linux

package upgrade

import (
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/proxy"
)

// place is a participant in a line, whose process may be replaced.
type place struct {
	*member
	id      string
	version version
	link    *proxy.Link
}

// election is one line among agents of both versions.
type election struct {
	*stage
	server *server
	path   string
	places []*place

	from  int   // what was read of the agents' lines
	token int64 // of the last leader
	round int
}

func newElection(t *testing.T, s *server) *election {
	e := &election{stage: newStage(t), server: s, path: s.dir + "/line"}
	return e
}

// join starts a participant's process, with a link of its own to the server.
func (e *election) join(id string, v version) *place {
	e.t.Helper()
	link, err := proxy.New(e.server.addr)
	ok(e.t, err)
	e.t.Cleanup(func() { link.Close() })
	p := &place{id: id, link: link}
	e.places = append(e.places, p)
	e.restart(p, v)
	return p
}

// restart starts a process for a participant that has none.
func (e *election) restart(p *place, v version) {
	e.t.Helper()
	p.version = v
	p.member = e.launch(v, p.id, e.server.orders(p.link.Addr()))
	p.do("latch l %s %s", e.path, p.id)
}

// placeOf returns the participant whose process wrote a line; nil if that was replaced since.
func (e *election) placeOf(m *member) *place {
	i := slices.IndexFunc(e.places, func(p *place) bool { return p.member == m })
	if i < 0 {
		return nil
	}
	return e.places[i]
}

// leader waits for the next term, and for a write under it. A term that a busy machine ended at once is followed by
// another.
func (e *election) leader() *place {
	e.t.Helper()
	for range 10 {
		said, next := e.await(e.from, "a leader", func(l line) bool { return l.words[0] == "leading" })
		e.from = next
		p := e.placeOf(said.from)
		if p == nil {
			continue
		}
		token, err := strconv.ParseInt(said.words[2], 10, 64)
		ok(e.t, err)
		if token < e.token {
			e.t.Fatalf("%s leads with token %d after %d", p, token, e.token)
		}
		e.token = token
		e.round++
		if _, err := p.begin("write l %s/register %s-%d", e.server.dir, p.id, e.round).result(); err != nil {
			e.t.Logf("%s leads no more: %v", p, err)
			continue
		}
		return p
	}
	e.t.Fatal("ten leaders could not write")
	return nil
}

// fault is a way in which a leader ends.
type fault struct {
	name string
	do   func(e *election, p *place)
	mend func(e *election, p *place) // when another leads
}

var faults = []fault{
	{"resigns", func(_ *election, p *place) { p.do("resign l") }, nil},
	{"closes its latch", func(_ *election, p *place) {
		p.do("leave l")
	}, func(e *election, p *place) { p.do("latch l %s %s", e.path, p.id) }},
	{"closes its client", func(_ *election, p *place) {
		p.leave()
	}, func(e *election, p *place) { e.restart(p, p.version) }},
	{"is killed, and starts at once", func(e *election, p *place) { p.kill(); e.restart(p, p.version) }, nil},
	{"is stopped until another leads", func(_ *election, p *place) {
		ok(p.stage.t, p.process.Signal(syscall.SIGSTOP))
	}, wake},
	{"hears nothing until another leads", func(_ *election, p *place) {
		p.link.Silence(proxy.Forth)
		p.link.Silence(proxy.Back)
	},
		func(_ *election, p *place) { p.link.Heal() }},
	{"is cut off for a moment, and resigns then", func(e *election, p *place) {
		from := e.now()
		p.link.Cut()
		p.awaitFrom(from, "stopped", "l")
		p.link.Heal()
		e.leader().do("resign l")
	}, nil},
}

// wake has a stopped process go on. Its term is over, so its write is refused.
func wake(e *election, p *place) {
	ok(e.t, p.process.Signal(syscall.SIGCONT))
	if answer, err := p.begin("write l %s/register late", e.server.dir).result(); err == nil {
		e.t.Errorf("%s wrote under a term that another has followed: %s", p, answer)
	}
}

// A line has participants of both versions in turns. Its leader is ended in every way, until each way has handed
// leadership from an old one to a new one and back.
func TestLeadershipGoesBackAndForth(t *testing.T) {
	on(t, func(t *testing.T, s *server, old version) {
		e := newElection(t, s)
		e.launch(present, "x", s.orders(s.addr)).do("create x %s/register none", s.dir)
		for i, v := range []version{old, present, old, present} {
			e.join(string(rune('a'+i)), v)
		}
		defer e.atMost(1, "l")
		now := e.leader()
		for _, f := range faults {
			seen := map[string]bool{}
			for try := 0; !seen["old new"] || !seen["new old"]; try++ {
				if try == 8 {
					t.Fatalf("a leader %s: of the two ways only %v were seen", f.name, seen)
				}
				s.awaitChildren(e.path, len(e.places))
				before, was := now, now.version.name
				f.do(e, before)
				now = e.leader()
				if f.mend != nil {
					f.mend(e, before)
				}
				seen[was+" "+now.version.name] = true
				t.Logf("%s (%s) %s: %s leads", before.id, was, f.name, now)
			}
		}
		e.sameLine()
	})
}

// sameLine demands that all agents read the same line, and that everybody is in it.
func (e *election) sameLine() {
	e.t.Helper()
	e.server.awaitChildren(e.path, len(e.places))
	lines := map[string][]string{}
	for _, p := range e.places {
		ids := p.do("line l")
		lines[ids] = append(lines[ids], p.String())
	}
	if len(lines) != 1 {
		e.t.Errorf("they read different lines: %v", fmt.Sprint(lines))
	}
}
