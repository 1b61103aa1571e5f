package machines

import (
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// maxQuietRaces is how many writes in a row may fail because a node has changed, before that is shown.
const maxQuietRaces = 4

// openTree opens the tree cache that follows the job's nodes, or the one node that is of interest.
func (d *jobDealer) openTree(ev events.Event, out *engine.Outbox) {
	d.accept(ev, out)
	top, options := d.path, map[string]string{OptionOpener: d.id}
	if !d.deals {
		top, options[OptionDepth] = JobServer(d.path, d.server), "0"
	}
	out.Open(d.tree, TreeCacheRecipe, events.Event{Path: top, Seed: guid(d.seed, 0), Options: options})
	out.Tell(d.tree, events.Event{Kind: events.CommandStart})
}

// closeTree closes the tree cache.
func (d *jobDealer) closeTree(ev events.Event, out *engine.Outbox) {
	d.finish(ev, out)
	out.Tell(d.tree, events.Event{Kind: events.CommandClose})
}

// noteNode notes what the tree cache tells of one node, or of its children.
func (d *jobDealer) noteNode(ev events.Event, out *engine.Outbox) {
	name := d.relative(ev.Path)
	switch {
	case ev.Kind == events.TreeListed:
		maps.DeleteFunc(d.nodes, func(other string, _ jobNode) bool {
			kid, below := childTowards(name, other)
			return below && !slices.Contains(ev.Children, kid)
		})
	case ev.Code == events.NoNode:
		d.remove(name)
	case ev.Code == events.OK && ev.Stat != nil:
		d.nodes[name] = jobNode{data: string(ev.Data), version: ev.Stat.Version, owned: ev.Stat.Ephemeral()}
		d.noteOffered(name)
	default: // it exists, and may not be read
		d.nodes[name] = jobNode{}
	}
}

// relative returns the path of a node from the job's node on.
func (d *jobDealer) relative(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, d.path), "/")
}

// childTowards returns the name of the child of a node by which another node is below it.
func childTowards(name, other string) (kid string, below bool) {
	if name != "" {
		if other, below = strings.CutPrefix(other, name+"/"); !below {
			return "", false
		}
	}
	kid, _, _ = strings.Cut(other, "/")
	return kid, kid != ""
}

// remove forgets a node and all below it.
func (d *jobDealer) remove(name string) {
	maps.DeleteFunc(d.nodes, func(other string, _ jobNode) bool {
		return name == "" || other == name || strings.HasPrefix(other, name+"/")
	})
}

// noteNews notes that everything was read, or may be out of date, or that a term has begun.
func (d *jobDealer) noteNews(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.TermBegun {
		d.guards = ev.Ops
		return
	}
	d.known = ev.Code == events.OK
	if !d.known {
		return
	}
	d.readConfig()
	d.noteDeaths()
}

// readConfig reads the job's configuration. Without one there is no job, or no longer: nothing is written then.
func (d *jobDealer) readConfig() {
	config, there := d.nodes[jobConfig]
	d.config, d.unread = JobConfig{}, ""
	switch {
	case there:
		var err error
		if d.config, err = parseJobConfigFor(d.own, []byte(config.data)); err != nil {
			d.unread = err.Error()
		}
	case d.deals:
		d.unread = noJobConfig
	}
}

// tellGate tells the election whether this instance may stand, if that is new. Before the nodes were read for the
// first time, it may not.
func (d *jobDealer) tellGate(ev events.Event, out *engine.Outbox) {
	now := gateState{sent: true}
	switch {
	case !d.known && d.gate.sent:
		return
	case !d.known:
		out.Tell(d.opener, events.Event{Kind: events.HealthChecked, Code: events.Unhealthy, Silent: true})
		return
	case d.disabled():
		now.code, now.text = events.JobDisabled, JobServer(d.path, d.serverNow())
	case d.unread != "":
		now.code, now.text = events.JobConfig, JobConfigNode(d.path)+": "+d.unread
	case !KnownStrategy(d.config.Strategy):
		now.code, now.text = events.JobStrategy, JobConfigNode(d.path)+": "+d.config.Strategy
	}
	if now != d.gate {
		d.gate = now
		out.Tell(d.opener, events.Event{Kind: events.HealthChecked, Code: now.code, Text: now.text})
	}
}

// disabled reports whether an operator has disabled this server.
func (d *jobDealer) disabled() bool {
	return d.server != "" && d.nodes[jobServers+"/"+d.serverNow()].data == ServerDisabled
}

// serverNow returns the address of the server whose node counts.
func (d *jobDealer) serverNow() string { return d.config.server(d.server, d.own) }

// termOver reports whether a write was refused because the term is over: its checks come first.
func (d *jobDealer) termOver(ev events.Event) bool {
	return d.changedMeanwhile(ev) && slices.ContainsFunc(d.guards,
		func(op events.Op) bool { return op.Path == ev.Path })
}

// changedMeanwhile reports whether a write was refused because a node that it names is not as it was read.
func (d *jobDealer) changedMeanwhile(ev events.Event) bool {
	return nodesChanged(ev.Code)
}

// forgetTerm forgets the checks of a term that is over. They might still succeed after the session's end, which the
// ensemble may not know yet.
func (d *jobDealer) forgetTerm(ev events.Event, out *engine.Outbox) {
	d.guards, d.pending, d.gathered = nil, nil, false
}

// lookAgain pauses until what has changed was read. If it is not, that is a failure.
func (d *jobDealer) lookAgain(ev events.Event, out *engine.Outbox) {
	if d.series().failures < maxQuietRaces {
		out.Timer(backOffTimer, d.nextPause())
		return
	}
	d.failAndBackOff(ev, out)
	d.tellFailure(ev, out)
}

// tellFailure tells the election of a failure, unless it may pass by itself.
func (d *jobDealer) tellFailure(ev events.Event, out *engine.Outbox) {
	if s := d.series(); !s.code.Transient() {
		out.Tell(d.opener, events.Event{Kind: events.LatchFailed, Code: s.code, Text: "deal " + s.text})
	}
}

// recover ends a failure, and tells the election so.
func (d *jobDealer) recover(out *engine.Outbox) {
	if code := d.series().code; code != events.OK && !code.Transient() {
		out.Tell(d.opener, events.Event{Kind: events.LatchFailed})
	}
	d.clearFailure(out)
}

// noteWritten notes what was written. The tree cache has read it, or will: both are the same.
func (d *jobDealer) noteWritten(ev events.Event, out *engine.Outbox) {
	for _, op := range d.pending {
		switch name := d.relative(op.Path); op.Verb {
		case "create":
			d.nodes[name] = jobNode{data: string(op.Data)}
			d.noteOffered(name)
		case "delete":
			d.remove(name)
		}
	}
	d.pending = nil
	d.recover(out)
}

// gather starts the short time before items are dealt.
func (d *jobDealer) gather(ev events.Event, out *engine.Outbox) {
	out.Timer(nextTimer, dealerGather)
}

// noteGathered notes that the short time has passed.
func (d *jobDealer) noteGathered(ev events.Event, out *engine.Outbox) { d.gathered = true }

// startOver notes that nothing is to be dealt.
func (d *jobDealer) startOver(ev events.Event, out *engine.Outbox) {
	d.gathered = false
	d.recover(out)
}

// idles reports whether there is no term, or not everything is known that dealing needs.
func (d *jobDealer) idles(events.Event) bool {
	return !d.deals || d.guards == nil || !d.known || d.gate.code != events.OK || d.config.Total == 0
}

// mustFlag reports whether items have to be dealt, or taken over, and the instances cannot see that yet.
func (d *jobDealer) mustFlag(ev events.Event) bool {
	if d.has(jobNecessary) { // what runs keeps the items from being dealt, and dead instances' items from nobody
		return d.mustWait(ev) && len(d.offerOrphans(nil)) > 0
	}
	return d.isStale()
}

// isDealt reports whether nothing says that items have to be dealt.
func (d *jobDealer) isDealt(events.Event) bool { return !d.has(jobNecessary) }

// mustGather reports whether the short time before items are dealt has not passed.
func (d *jobDealer) mustGather(events.Event) bool { return !d.gathered }

// mustWait reports whether an item runs, or no instance may have one.
func (d *jobDealer) mustWait(events.Event) bool {
	if len(d.available()) == 0 {
		return true
	}
	return d.config.MonitorExecution && slices.ContainsFunc(d.items(), func(item int) bool {
		return d.has(itemNode(item, ItemRunning)) && !d.orphaned(item)
	})
}

// flag says that items have to be dealt.
func (d *jobDealer) flag(ev events.Event, out *engine.Outbox) {
	if d.has(jobNecessary) {
		d.write(d.offerOrphans(nil), out)
		return
	}
	d.write(d.flagOps(), out)
}

// deal writes the owner of each item.
func (d *jobDealer) deal(ev events.Event, out *engine.Outbox) { d.write(d.dealOps(), out) }

// write sends a transaction that fails if the term is over.
func (d *jobDealer) write(ops []events.Op, out *engine.Outbox) {
	d.pending = ops
	out.Multi(slices.Concat(d.guards, ops)...)
}
