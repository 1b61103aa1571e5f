package play

import (
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// belief is one term of a participant, as the world knows it.
type belief struct {
	c       *world.Client
	path    string
	token   int64
	session int64
	excused bool // others ended its node, and its client cannot know that yet
	shard   int  // of a group
}

// believes reports whether the participant may believe, as its own clock says.
func (b *belief) believes() bool {
	return b.c.Deadline().Session == b.session && b.c.Clock() < b.c.Deadline().Until
}

// shares reports whether others may believe together with it.
func (b *belief) shares() bool { return strings.Contains(b.path, machines.ReadLabel) }

// elected checks the beginning of a term.
func (p *promises) elected(c *world.Client, n events.Notify) {
	b := &belief{c: c, path: n.Path, token: n.Token, session: n.Session}
	p.beliefs[c.ID()] = b
	p.begins(b)
	p.grows(b)
	p.apart(b)
}

// grows checks that a term has a greater token than those before, or leads again by the same node.
func (p *promises) grows(b *belief) {
	switch name := p.run.name(b.c); {
	case b.shares() || b.excused || b.path == p.lastPath:
	case b.token > p.last:
		p.last, p.lastPath = b.token, b.path
	case b.believes():
		p.fail(tokensGrow, []string{name}, "%s's term has the token %s, and there was one with %s", name,
			token(b.token), token(p.last))
	}
}

// begins checks that a term begins under a node of the own session that nobody is ahead of.
func (p *promises) begins(b *belief) {
	tree, name := p.run.w.Ensemble().Committed(), p.run.name(b.c)
	_, stat, err := tree.Get(b.path)
	switch {
	case err != nil || stat.Czxid != b.token:
		b.excused = p.run.endedByOthers(b.path)
		if b.believes() && !b.excused {
			p.fail(withNode, []string{name}, "%s begins to believe under %s, which is gone", name, short(b.path))
		}
	case !b.believes():
	case stat.EphemeralOwner != b.c.SessionID():
		p.fail(firstInLine, []string{name}, "%s begins to believe under %s, which is a node of another session",
			name, short(b.path))
	default:
		if ahead := p.ahead(b); ahead != "" {
			p.fail(firstInLine, []string{name}, "%s begins to believe under %s, and %s is ahead of it", name,
				short(b.path), short(ahead))
		}
	}
}

// ahead returns a node that is ahead of the term's and excludes it, "" for none.
func (p *promises) ahead(b *belief) string {
	if p.dir == "" || !strings.HasPrefix(b.path, p.dir+"/") {
		return ""
	}
	line, _ := machines.Line(p.run.w.Ensemble().Children(p.dir), p.labels...)
	for _, place := range line {
		if p.dir+"/"+place.Name == b.path {
			break
		}
		if other := p.dir + "/" + place.Name; !b.shares() || !strings.Contains(other, machines.ReadLabel) {
			return other
		}
	}
	return ""
}

// apart checks that nobody else believes who may not.
func (p *promises) apart(b *belief) {
	promise := oneLeader
	if machines.TraitsOf(p.run.script.Recipe).Grants == machines.GrantsReadWriteLock {
		promise = lockExcl
	}
	if !p.checks(promise) || !b.believes() || b.excused {
		return
	}
	for _, o := range p.beliefs {
		if o == nil || o == b || o.excused || !o.believes() || o.shares() && b.shares() {
			continue
		}
		one, two := o, b
		if one.c.ID() > two.c.ID() {
			one, two = two, one
		}
		names := []string{p.run.name(one.c), p.run.name(two.c)}
		p.fail(promise, names, "%s and %s may believe at once, with the tokens %s and %s", names[0], names[1],
			token(one.token), token(two.token))
	}
}

// published checks a new deadline.
func (p *promises) published(c *world.Client) {
	d, b := c.Deadline(), p.beliefs[c.ID()]
	if d.Until == 0 {
		return
	}
	if over := time.Duration(d.Until - p.asked[c.ID()]); over > p.timeout/2 {
		p.fail(halfTimeout, []string{p.run.name(c)},
			"%s may believe for %s after its last confirmed request, of a session of %s", p.run.name(c),
			length(over.Round(time.Millisecond)), length(p.timeout))
	}
	if b != nil {
		p.apart(b)
		p.permitsHeld()
	}
	for _, own := range p.owns {
		if own.c == c {
			p.ownsAlone(own)
		}
	}
}

// nodeDeleted checks that nobody believes under a node that is gone.
func (p *promises) nodeDeleted(path string, byOthers bool) {
	for _, b := range slices.Concat(p.beliefs, p.owns) {
		if b == nil || b.path != path {
			continue
		}
		if byOthers {
			b.excused = true
			continue
		}
		if name := p.run.name(b.c); b.believes() && !b.excused {
			left := time.Duration(b.c.Deadline().Until - b.c.Clock()).Round(time.Millisecond)
			p.fail(withNode, []string{name}, "%s may believe for %s more, and %s is gone", name,
				length(left), short(path))
		}
	}
}
