package play

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
)

// shards is how many shards a group has.
const shards = 6

// owned checks the beginning of a member's belief in a shard, and notes that.
func (p *promises) owned(c *world.Client, n events.Notify) {
	b := &belief{c: c, path: n.Path, token: n.Token, session: n.Session, shard: int(n.Work) - 1}
	b.excused = p.run.endedByOthers(b.path)
	name := p.run.name(c)
	if _, _, err := p.run.w.Ensemble().Committed().Get(b.path); err != nil && b.believes() && !b.excused {
		p.fail(withNode, []string{name}, "%s begins to believe in shard %d, and %s is gone", name, b.shard,
			short(b.path))
	}
	if last := p.tokens[b.shard]; b.token < last && b.believes() && !b.excused {
		p.fail(tokensGrow, []string{name}, "%s owns shard %d with the token %s, and there was one with %s", name,
			b.shard, token(b.token), token(last))
	}
	p.tokens[b.shard] = max(p.tokens[b.shard], b.token)
	p.worksReturned(b)
	p.ownsAlone(b)
	p.owns = append(p.owns, b)
}

// disowned notes that a member's belief in a shard has ended. Its work may go on.
func (p *promises) disowned(c *world.Client, n events.Notify) {
	p.owns = slices.DeleteFunc(p.owns, func(b *belief) bool {
		is := b.c == c && b.shard == int(n.Work)-1
		if is {
			p.left = append(p.left, b)
		}
		return is
	})
}

// worksReturned checks that nobody works on a shard any more whose node stands, when a member begins to.
func (p *promises) worksReturned(b *belief) {
	p.left = slices.DeleteFunc(p.left, func(o *belief) bool {
		_, _, err := p.run.w.Ensemble().Committed().Get(o.path)
		return err != nil || !o.c.WorksOn(o.shard)
	})
	for _, o := range p.left {
		if o.shard == b.shard && !o.excused && !b.excused {
			names := []string{p.run.name(o.c), p.run.name(b.c)}
			p.fail(workFirst, names, "%s begins to work on shard %d, and the work of %s, a member, has not returned",
				names[1], b.shard, names[0])
		}
	}
}

// ownsAlone checks that no other member believes in the same shard.
func (p *promises) ownsAlone(b *belief) {
	if !b.believes() || b.excused {
		return
	}
	for _, o := range p.owns {
		if o.c == b.c || o.shard != b.shard || o.excused || !o.believes() {
			continue
		}
		one, two := o, b
		if one.c.ID() > two.c.ID() {
			one, two = two, one
		}
		names := []string{p.run.name(one.c), p.run.name(two.c)}
		p.fail(oneOwner, names, "%s and %s may own shard %d at once, with the tokens %s and %s", names[0], names[1],
			b.shard, token(one.token), token(two.token))
	}
}

// ownedBy returns the shards that a participant may believe are its own, sorted.
func (p *promises) ownedBy(c *world.Client) []int {
	all := []int{}
	for _, b := range p.owns {
		if b.c == c && b.believes() && !c.Dead() {
			all = append(all, b.shard)
		}
	}
	slices.Sort(all)
	return all
}
