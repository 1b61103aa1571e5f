package play

import (
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// onePlaceEach checks that a session has one node in the line, after a create there.
func (p *promises) onePlaceEach(t zkmem.Txn) {
	if !p.checks(onePlace) || t.Code != zkmem.OpCreate || t.Owner == 0 || !strings.HasPrefix(t.Path, p.dir+"/") {
		return
	}
	var own []string
	line, _ := machines.Line(p.run.w.Ensemble().Children(p.dir), p.labels...)
	for _, place := range line {
		if _, stat, err := p.run.w.Ensemble().Committed().Get(p.dir + "/" + place.Name); err == nil &&
			stat.EphemeralOwner == t.Owner {
			own = append(own, short(place.Name))
		}
	}
	if name := p.run.ownerOf(t.Owner); len(own) > 1 {
		p.fail(onePlace, []string{name}, "%s has the places %s in the line", name, strings.Join(own, " and "))
	}
}

// permitsHeld checks that no more permits are held than there are: as nodes, and as terms.
func (p *promises) permitsHeld() {
	if !p.checks(fewPermits) {
		return
	}
	if n := len(p.run.w.Ensemble().Children(machines.SemaphorePool(path, false))); n > permits {
		p.fail(fewPermits, nil, "there are %d nodes of permits, of %d", n, permits)
	}
	var held []string
	for _, b := range p.beliefs {
		if b != nil && !b.excused && b.believes() {
			held = append(held, p.run.name(b.c))
		}
	}
	if len(held) > permits {
		p.fail(fewPermits, held, "%s hold permits at once, of %d", strings.Join(held, ", "), permits)
	}
}

// members returns the nodes in the barrier.
func (p *promises) members() []string {
	return slices.DeleteFunc(p.run.w.Ensemble().Children(path), func(name string) bool {
		return name == machines.ReadyNode
	})
}

// gathered notes which nodes stand in the barrier with enough others.
func (p *promises) gathered() {
	if all := p.members(); p.checks(together) && len(all) >= p.run.script.quantity() {
		for _, name := range all {
			p.together[name] = true
		}
	}
}

// entered checks that who is inside the barrier has been there with enough others.
func (p *promises) entered(c *world.Client, id events.ID, is events.Class) {
	if !p.checks(together) || id != c.Main() || is != events.ClassActive {
		return
	}
	tree, name := p.run.w.Ensemble().Committed(), p.run.name(c)
	for _, node := range p.members() {
		if _, stat, err := tree.Get(path + "/" + node); err == nil && stat.EphemeralOwner == c.SessionID() &&
			!p.together[node] {
			p.fail(together, []string{name}, "%s is inside, and never were %d there", name, p.run.script.quantity())
		}
	}
}

// short returns the last part of a path, without the GUID in it.
func short(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if rest := machines.WithoutGUID(name); rest != name {
		return "…" + rest
	}
	return name
}

// token returns a token as the library's logs have it.
func token(n int64) string { return strconv.FormatInt(n, 10) }

// hex returns an id as ZooKeeper's logs have it.
func hex(n int64) string { return "0x" + strconv.FormatUint(uint64(n), 16) }
