package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/upgrade/agent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// script is what two agents of one version, a and b, do on one server. Each line is one step, and the next begins when it is
// done:
//
//	a VERB NAME ARGUMENTS…    a command; its answer comes
//	a begin VERB NAME …       a command that is answered later
//	a answers NAME            … now
//	a fails VERB NAME …       a command whose answer is an error
//	a hears WORDS…            a line that begins like this comes
//	a asked N REQUEST…        N requests that begin like this have been answered; when a further command of the same agent
//	                          has been answered, it has these answers, too, because they come in order
//	until children PATH N     the node has N children
//	until watches N           N watches are armed
//	until watched PATH N      N of them are on the node's children
//	restart                   all connections end; the sessions go on
//	lose OPERATION            the next request of this kind is carried out, and then its connection ends
//	expire a                  the agent's session ends
//	evict PATH                an operator deletes the node's first child in line
//	reap                      the server deletes empty containers
type script struct {
	name, steps string
	options     zkmem.Options // its tick is stillTick
}

// stillness is a session timeout that no script outlasts, so that no request depends on time: heartbeats are every quarter.
const stillTick, stillness = 60 * time.Second, 20 * time.Minute

// play is one run of a script.
type play struct {
	t      *testing.T
	srv    *zkmem.Server
	agents map[string]*member
	tees   map[string]*tee
	begun  map[string]*call
	heard  map[string]int
}

// record plays a script, and returns what each agent asked for.
func record(t *testing.T, s script, launch func(*stage, string, agent.Orders) *member) string {
	t.Helper()
	s.options.Tick = stillTick
	srv := zkmem.Start(t, s.options)
	p := &play{t: t, srv: srv, agents: map[string]*member{}, tees: map[string]*tee{}, begun: map[string]*call{}, heard: map[string]int{}}
	stage := newStage(t)
	for _, id := range []string{"a", "b"} {
		p.tees[id] = newTee(t, srv.Addr())
		p.agents[id] = launch(stage, id, agent.Orders{Servers: p.tees[id].addr(), Timeout: stillness, Tick: stillTick})
	}
	for _, step := range strings.Split(strings.TrimSpace(s.steps), "\n") {
		p.step(strings.Fields(step))
	}
	var b strings.Builder
	for _, id := range []string{"a", "b"} {
		p.agents[id].leave()
		for _, r := range sortedReads(p.tees[id].requests()) {
			fmt.Fprintf(&b, "%s: %s\n", id, r)
		}
	}
	return b.String()
}

func (p *play) step(words []string) {
	p.t.Helper()
	who, what := p.agents[words[0]], words[1:]
	switch {
	case words[0] == "until":
		p.until(what)
	case words[0] == "restart":
		p.srv.Stop()
		ok(p.t, p.srv.Restart())
	case words[0] == "lose":
		p.lose(what[0])
	case words[0] == "evict":
		p.evict(what[0])
	case words[0] == "reap":
		p.srv.ReapContainers()
	case words[0] == "expire":
		p.expire(what[0])
	case who == nil:
		p.t.Fatalf("no such step: %q", words)
	case what[0] == "begin":
		p.begun[words[0]+what[2]] = who.begin("%s", strings.Join(what[1:], " "))
	case what[0] == "answers":
		p.begun[words[0]+what[1]].answer()
	case what[0] == "fails":
		if words, err := who.begin("%s", strings.Join(what[1:], " ")).result(); err == nil {
			p.t.Fatalf("%q succeeds: %s", what, words)
		}
	case what[0] == "asked":
		n, err := strconv.Atoi(what[1])
		ok(p.t, err)
		p.tees[words[0]].await(p.t, n, strings.Join(what[2:], " "))
	case what[0] == "hears":
		_, p.heard[words[0]] = who.awaitFrom(p.heard[words[0]], what[1:]...)
	default:
		who.do("%s", strings.Join(what, " "))
	}
}

// until waits for a state of the server.
func (p *play) until(words []string) {
	p.t.Helper()
	var n int
	fmt.Sscan(words[len(words)-1], &n)
	ctx, cancel := context.WithTimeout(p.t.Context(), within)
	defer cancel()
	err := p.srv.WaitFor(ctx, func(v *zkmem.View) bool {
		if words[0] == "children" {
			return len(v.Children(words[1])) == n
		}
		if words[0] == "watched" {
			return v.Watches(zkmem.ChildWatch, words[1]) == n
		}
		return v.WatchCount() == n
	})
	if err != nil {
		p.srv.View(func(v *zkmem.View) {
			p.t.Fatalf("until %q: %v: there are %d watches, %d children", words, err, v.WatchCount(), len(v.Children(words[1])))
		})
	}
}

// lose has the next request of this kind carried out and its connection cut.
func (p *play) lose(operation string) {
	var once sync.Once
	p.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		if operations[int32(r.Op)] == operation {
			once.Do(func() {
				v.Action = zkmem.CutAfter
				for _, s := range p.srv.Sessions() {
					if s.ID == r.Session {
						p.lost(s.Addr, r.Xid)
					}
				}
			})
		}
		return v
	})
}

func (p *play) lost(addr string, xid int32) {
	for _, e := range p.tees {
		e.mark(addr, xid, func(a *asked) { a.lost = true })
	}
}

// evict deletes the child with the lowest number.
func (p *play) evict(dir string) {
	p.t.Helper()
	var names []string
	p.srv.View(func(v *zkmem.View) { names = v.Children(dir) })
	first := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) })
	ok(p.t, p.srv.Delete(dir+"/"+first))
}

// expire ends the session whose connection comes from an agent.
func (p *play) expire(id string) {
	p.t.Helper()
	for _, s := range p.srv.Sessions() {
		if p.tees[id].dialled(s.Addr) {
			p.srv.ExpireSession(s.ID)
			return
		}
	}
	p.t.Fatalf("%s has no session", id)
}

// sortedReads sorts reads without a watch that follow each other: a client sends them at once, in any order.
func sortedReads(requests []string) []string {
	read := func(r string) bool { return strings.HasPrefix(r, "getData ") && !strings.HasSuffix(r, " watch") }
	for i := 0; i < len(requests); i++ {
		end := i
		for end < len(requests) && read(requests[end]) {
			end++
		}
		slices.Sort(requests[i:end])
		i = end
	}
	return requests
}
