package play

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
)

// played is a lesson that was played, with the facts that its sentences claim.
type played struct {
	t *testing.T
	Lesson
	*Answer
}

// in returns a moment of the world.
func (p *played) in(s float64) int64 { return p.Begin + int64(s*1e6) }

// lane returns the places and terms of a participant.
func (p *played) lane(name string) why.PictureMachine {
	for _, m := range p.Document.Picture.Machines {
		if p.Document.Picture.Logs[m.Log].Name == name && m.Line == path {
			return m
		}
	}
	p.t.Fatalf("%s: no lane of %s", p.ID, name)
	return why.PictureMachine{}
}

// right returns a term of a participant: from when until when it had the right.
func (p *played) right(name string, term int) why.Span {
	all := p.lane(name).Right
	if len(all) <= term {
		p.t.Fatalf("%s: %s had %d terms", p.ID, name, len(all))
	}
	return all[term]
}

// tokens returns those of a participant's terms.
func (p *played) tokens(name string) (all []string) {
	for _, s := range p.lane(name).Right {
		all = append(all, s.Text)
	}
	return all
}

// kinds returns in which logs a record from outside has this kind, after a moment.
func (p *played) kinds(kind string, after int64) (logs []string) {
	i := slices.Index(p.Document.Strings, kind)
	for _, l := range p.Document.Logs {
		at := int64(0)
		for row := l.Rows; i >= 0 && len(row) > 0; row = row[13:] {
			if at += row[1]; row[3] == int64(i) && row[12]&2 == 0 && p.Begin+at >= after {
				logs = append(logs, l.Name)
				break
			}
		}
	}
	return logs
}

// connected reports whether a participant was connected to a server at a moment.
func (p *played) connected(name, server string, at int64) bool {
	for _, l := range p.Document.Picture.Logs {
		for _, s := range l.Connected {
			if l.Name == name && strings.HasPrefix(s.Text, server+",") && s.From <= at && at < s.To {
				return true
			}
		}
	}
	return false
}

// is reports what a sentence claims and is not so.
func (p *played) is(claim string, so bool) {
	p.t.Helper()
	if !so {
		p.t.Errorf("%s: it is not so that %s", p.ID, claim)
	}
}

// ends returns when alice's first node ended.
func (p *played) ends() int64 { return p.lane("alice").Nodes[0].To }

// claims are what the sentences of each lesson say, as facts.
var claims = map[string]func(*played){
	"cut-off-follower": func(p *played) {
		alice, bob := p.right("alice", 0), p.right("bob", 0)
		p.is("her right ends seconds before her node", alice.To+2_000_000 < p.ends())
		p.is("bob leads after her node is gone", bob.From > p.ends())
		p.is("she is connected for seconds after her right has ended", p.connected("alice", "b", alice.To+4_000_000))
		p.is("her work hears of it at once", p.lane("alice").Heard[0].To <= alice.To+100_000)
	},
	"deposed-leader": func(p *played) {
		first, again := p.right("alice", 0), p.right("alice", 1)
		p.is("alice is at the server that leads",
			p.connected("alice", "b", p.in(10)) &&
				strings.HasPrefix(p.Deeds[0].Says, "server b, the ensemble's leader"))
		p.is("another server leads",
			slices.ContainsFunc(p.Servers, func(s Server) bool {
				return s.Name != "b" && len(s.Spans) > 0 && s.Role == "leader"
			}))
		p.is("her right ends within half a timeout", first.To > p.in(10) && first.To <= p.in(13))
		p.is("she is connected to it when her right has ended", p.connected("alice", "b", first.To+4_000_000))
		p.is("she leads again when another server has answered",
			!p.connected("alice", "b", again.From) && again.From > p.in(13))
	},
	"pause": func(p *played) {
		alice, bob := p.right("alice", 0), p.right("bob", 0)
		p.is("bob leads while she stands still", bob.From > p.in(10) && bob.From < p.in(19))
		p.is("his token is greater", slices.IsSorted([]string{alice.Text, bob.Text}) && alice.Text != bob.Text &&
			len(alice.Text) == len(bob.Text))
		p.is("her right has ended before", alice.To < bob.From)
		p.is("her work hears of it when she wakes, after bob leads",
			p.lane("alice").Heard[0].To >= p.in(19) && p.lane("alice").Heard[0].To > bob.From)
	},
	"lost-create": func(p *played) {
		p.is("the reply is lost with the connection, and then alice is connected again",
			len(p.Document.Picture.Logs[0].Connected) == 2)
		p.is("she has one node", p.count("alice") == 1)
		p.is("she has created one node since", p.creates("0x1001") == 2)
		p.is("bob leads", p.right("bob", 0).To > p.Now-1)
	},
	"herd": func(p *played) {
		notified := p.kinds("watch.deleted", p.in(10))
		p.is("nine are in one line", len(p.Participants) == 9 && p.lane("dave").Right != nil)
		p.is("one is notified, heidi, and leads",
			slices.Equal(notified, []string{"heidi"}) && p.right("heidi", 0).From > p.in(10))
	},
	"session-over": func(p *played) {
		p.is("her node is gone with the session", p.ends() >= p.in(10) && p.ends() < p.in(10.1))
		p.is("bob leads within milliseconds", p.right("bob", 0).From < p.in(10.1))
		nodes := p.lane("alice").Nodes
		p.is("alice has a new node, in a new session",
			len(nodes) == 2 && nodes[1].To == 0 && p.Participants[0].Session != "0x1001")
		p.is("she is at the tail", p.Nodes[len(p.Nodes)-1].Owner == "alice" && p.count("alice") == 1)
	},
	"forgotten-release": func(p *played) {
		p.is("bob and carol have led, and have closed",
			p.right("bob", 0).To < p.Now && p.right("carol", 0).To < p.Now && p.Participants[1].Closed &&
				p.Participants[2].Closed)
		alice := p.Participants[0]
		p.is("alice is connected, and does not queue", alice.Server != "" && alice.Machines["latch-1"] == "draining" &&
			p.count("alice") == 0 && len(p.tokens("alice")) == 1)
		p.is("nobody leads", !slices.ContainsFunc(p.Participants, func(o Participant) bool {
			return o.Holds || o.May != 0
		}))
	},
	"deaf-leader": func(p *played) {
		alice, bob := p.right("alice", 0), p.right("bob", 0)
		p.is("no server tells of the end", len(p.kinds("watch.deleted", p.in(11))) == 0)
		p.is("her right ends within half a timeout", alice.To > p.in(11) && alice.To <= p.in(14))
		p.is("bob leads after that, when he has asked", bob.From > alice.To && bob.From <= p.in(11+6*1.1))
	},
	"shards": func(p *played) {
		bob, dave := p.owned("bob"), p.owned("dave")
		p.is("three members own six shards", len(p.ownedBy("", p.in(9))) == 6 && len(p.ownedBy("carol", p.in(9))) > 0)
		p.is("bob has three, and is killed", len(bob) == 3 && bob[0].open)
		for _, s := range bob {
			next := p.ownerAfter(s)
			p.is("his session has ended, and another owns his shard at once", next.from > p.ended("bob") &&
				next.from < p.ended("bob")+100_000 && next.who != "bob" && next.token > s.token)
		}
		first := dave[0]
		given := p.ownerBefore(first)
		p.is("alice gives one up to dave", given.who == "alice" && first.from > p.in(25) && first.from < p.in(40))
		p.is("her work on it takes a while, and has returned first",
			given.returned >= given.to+1_500_000 && given.returned < first.from)
		last := p.ownedBy("alice", p.in(40))
		p.is("alice has two when she is paused", len(last) == 2)
		for _, s := range last {
			next := p.ownerAfter(s)
			p.is("her right ends, and dave owns her shard with a greater token before she wakes",
				s.to < next.from && next.who == "dave" && next.from < p.in(49) && next.token > s.token &&
					s.stopped >= p.in(49))
			p.is("two work at once until her work returns", s.returned > p.in(49) && s.returned < p.in(51))
		}
		for _, s := range p.owned("") {
			if next := p.ownerAfter(s); next != nil {
				p.is("at no moment do two own one shard", s.to <= next.from)
			}
		}
		p.is("the report says so", p.Document.Picture.Verdict == why.NeverMeasured)
	},
	"cut-off-follower-bug": func(p *played) {
		p.is("alice believes on when her node is gone", p.right("alice", 0).To > p.ends()+1_000_000)
		p.is("two believe at once", p.broken(oneLeader) && p.Document.Picture.Verdict == why.TwoAtOnce)
		p.is("the bug's own promise is broken", p.broken(withNode))
	},
	"lost-create-bug": func(p *played) {
		p.is("alice has two nodes", p.count("alice") == 2 && p.broken(onePlace))
		later, err := new(Host).
			Ask(Request{Link: strings.Replace(p.Lesson.Link, "@25", "~20:close:bob~30:close:carol@60", 1)})
		if err != nil {
			p.t.Fatal(err)
		}
		p.is("nobody leads when its turn comes",
			!slices.ContainsFunc(later.Participants, func(o Participant) bool { return o.Holds || o.May != 0 }) &&
				later.Participants[0].Server != "")
	},
}

// count returns how many nodes a participant has.
func (p *played) count(name string) (n int) {
	for _, node := range p.Nodes {
		if node.Owner == name {
			n++
		}
	}
	return n
}

// creates returns how many nodes a session has created.
func (p *played) creates(session string) (n int) {
	for _, x := range p.Document.Picture.Txns {
		if x.Kind == "create" && strings.HasSuffix(x.Text, "session "+session) {
			n++
		}
	}
	return n
}

func (p *played) broken(promise string) bool {
	return slices.ContainsFunc(p.Broken, func(b Broken) bool { return b.Promise == promise })
}

// TestLessons: every lesson shows what its two sentences say. Without a planted bug no promise is broken, and every
// deed is done.
func TestLessons(t *testing.T) {
	lessons := Lessons()
	if len(lessons) != 11 || len(claims) != 11 {
		t.Errorf("%d lessons, and claims of %d", len(lessons), len(claims))
	}
	ids := map[string]Lesson{}
	for _, l := range lessons {
		ids[l.ID] = l
	}
	for _, l := range lessons {
		a := ask(t, new(Host), Request{Link: l.Link})
		p := &played{t, l, a}
		if a.Link != l.Link || len(l.Says) != 2 || len(l.Link) > 200 || !slices.Contains(a.Script.Names, l.Focus) {
			t.Errorf("%s: the link %s, %d sentences, focus on %s", l.ID, a.Link, len(l.Says), l.Focus)
		}
		for _, d := range a.Deeds {
			p.is("every deed is done: "+d.Why, d.Done)
		}
		if a.Bug == nil && len(a.Broken) > 0 {
			t.Errorf("%s: %+v", l.ID, a.Broken)
		}
		if a.Bug != nil &&
			(ids[l.Counterpart].Counterpart != l.ID ||
				strings.Replace(l.Link, ";bug="+a.Bug.Name, "", 1) != ids[l.Counterpart].Link) {
			t.Errorf("%s: its counterpart is %+v", l.ID, ids[l.Counterpart])
		}
		claims[l.ID](p)
	}
}

// TestBugsBreakTheirPromise: every planted bug breaks the promise that it names, and the same script without it breaks
// none.
func TestBugsBreakTheirPromise(t *testing.T) {
	deeds := map[string]string{
		"reads-confirm": "~10:isolate:b:15", "late-deadline": "",
		"create-refused": "~10:delete:alice~10.004:lose-reply:alice", "all-first": "~8:cut:bob",
	}
	for _, b := range bugs {
		sound := ask(t, new(Host), Request{Link: "1;latch;usual;3;20" + deeds[b.Name] + "@30"})
		wrong := ask(t, new(Host), Request{Link: "1;latch;usual;3;20;bug=" + b.Name + deeds[b.Name] + "@30"})
		p := &played{t, Lesson{ID: b.Name}, wrong}
		if len(sound.Broken) > 0 || !p.broken(b.Promise) || wrong.Bug == nil || wrong.Bug.Name != b.Name {
			t.Errorf("%s: %+v, without it %+v", b.Name, wrong.Broken, sound.Broken)
		}
		for _, o := range wrong.Promises {
			if (o.Broken > 0) != p.broken(o.Name) {
				t.Errorf("%s: %s is broken %d times", b.Name, o.Name, o.Broken)
			}
		}
	}
}

// TestEveryVerbSaysWhatItDid: every verb is done in some script, and says so; and the participants' and servers' lanes
// show it.
func TestEveryVerbSaysWhatItDid(t *testing.T) {
	for _, v := range verbs {
		deed := "~10:" + v.Verb
		switch v.To {
		case toParticipant:
			deed += ":" + map[string]string{"start": "dave"}[v.Verb]
			if v.Verb != "start" {
				deed += "alice"
			}
		case toServer:
			deed += ":b"
		}
		if v.Lasts {
			deed += ":" + seconds(time.Duration(v.For)*time.Microsecond)
		}
		a := ask(t, new(Host), Request{Link: "1;latch;usual;3+1;20" + deed + "@11"})
		if len(a.Deeds) != 1 || !a.Deeds[0].Done || a.Deeds[0].Says == "" || len(a.Broken) > 0 {
			t.Errorf("%s: %+v, broken %+v", v.Verb, a.Deeds, a.Broken)
		}
		alice, b, c := a.Participants[0], a.Servers[1], a.Servers[2]
		shows := map[string]bool{
			"freeze": alice.Frozen && len(alice.Pauses) == 1 && alice.Until > a.Now,
			"kill":   alice.Dead && alice.Pauses[0].To == 0, "close": alice.Closed,
			"isolate": b.Isolated && b.Spans[len(b.Spans)-1].Kind == "isolated", "crash": !b.Up,
			"freeze-server": b.Frozen,
			"depose":        c.Isolated && c.Role == "leader", "start": a.Participants[3].Begun,
		}
		if so, known := shows[v.Verb]; known && !so {
			t.Errorf("%s does not show: %+v %+v %+v", v.Verb, alice, b, c)
		}
	}
}

// The two worlds that the playground opens with differ as it says, whenever alice's server is cut off: two lead in the
// second, and
// never in the first.
func TestTheTwoWorldsAtFirst(t *testing.T) {
	links := duel()
	for at := 2; at <= 38; at += 4 {
		for i, link := range links {
			head, _, _ := strings.Cut(link, "@")
			a, err := new(Host).Ask(Request{Link: fmt.Sprintf("%s~%d:isolate:b:15@%d", head, at, at+18)})
			if err != nil {
				t.Fatal(err)
			}
			two := slices.ContainsFunc(a.Broken, func(b Broken) bool { return b.Promise == oneLeader })
			if two != (i == 1) {
				t.Errorf("a cut at %d s: %s has two leaders: %v", at, link, two)
			}
		}
	}
}
