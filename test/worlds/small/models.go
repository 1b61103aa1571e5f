package small

import (
	"fmt"
	"reflect"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// How the models' fields are written down. A field that is not listed here is
// written as it is. That is always right; but where it holds a name, a time or a
// counter the search finds far more states than there are, or no end: list it.

// how one field of a model enters the digest.
type how uint8

const (
	fixed    how = iota // the same in every state of a search, or without meaning for what comes
	value               // as it is
	printed             // as it is printed
	some                // only whether it is zero: a counter or the number of a command
	several             // a list of commands: how many
	call                // a request's or timer's number
	zxid                // a token
	name                // a node's name or path
	names               // a list of them
	uuid                // a GUID
	zookeeps            // ZooKeeper's id of a session
	session             // the client's number of a session, counted back from the last
	ahead               // a time to come: no longer of interest once it is past
	recent              // a time that only what is on its way is compared with
	recent1             // the same, and it matters for a unit longer
	past                // how long ago it was, if that is no longer than half of the timeout
	// whether there is such a time, and how long ago it was, if that is no longer than the timeout
	pastTimeout
	inside  // a struct, field by field
	holders // the heartbeat set
	version // of the own node's data
	looks   // what was read of nodes
	shares  // what a member has of shards
)

// fields says how each field enters, by type and name. The retry policies of a
// search wait for the same time always, so that jitter and the counters of
// failures decide nothing but whether there was a failure; and with the timeout
// of a search a confirmation lasts as long however long heartbeats have run.
var fields = map[string]how{
	"place.ownerSearch": fixed, // of plain names, which no search has
	"position.label":    fixed,

	"contender.id": fixed, "contender.seed": fixed, "nodeExtras.opener": value,

	"node.ownDir": fixed, "node.data": fixed, "node.naming": fixed, "node.deletions": inside, "node.read": value,
	"nodeExtras.tokenFloor": fixed, "node.owner": zookeeps,
	// no search has kazoo's permits
	"node.count": fixed, "node.guid": uuid, "node.creating": call, "node.unknown": value, "node.attempts": inside,
	"attempts.mayFollow": value, "attempts.searches": fixed, "node.named": fixed,

	"node.ownPath": name, "node.token": zxid,
	"node.sequence": fixed /* it stands in ownPath */, "nodeExtras.inherited": value,
	"node.pinned": zxid, "node.ownerKnown": fixed, // of plain names
	"node.owned": value, "node.watched": value,

	"parentMaker.dir":           fixed,
	"parentRound.highestCreate": call, "parentRound.lowestCreate": call,
	"failure.code": value, "failure.path": fixed, "failure.text": fixed, // they are words

	"line.predecessor": name, "line.hidden": value, "line.aheadRead": call, "line.nextInLine": value,
	"equals.behind": names, "line.purged": value,

	"flight.oneFlight": fixed, "flight.readBack": value,
	"line.behindCreate":  call,
	"readBacks.readBack": fixed, // it matters only when a latch is opened, which is done once

	// A latch does not ask when its term began.
	"term.leads": value, "term.first": value, "term.heartbeating": value, "term.works": value,
	"term.since": fixed, "term.askedSince": pastTimeout,
	"term.rideOut": fixed,

	"retryState.retry": fixed, "retryState.jitter": fixed, "agenda.gaveUp": value, "retryState.retryTimer": call,
	"failureSeries.code": value, "failureSeries.text": fixed, "failureSeries.failures": some,
	"failureSeries.failedAt": fixed, "failureSeries.pauseEnds": fixed, "failureSeries.refusedSince": pastTimeout,
	// no search deletes three nodes of one client
	"deletions.timeout": fixed, "deletions.createdAt": fixed, "deletions.shortLived": some,

	// no search checks health
	"healthChecks.mostFailures": fixed, "healthChecks.failedChecks": value,

	"agenda.nextIntent": value, "agenda.after": fixed, "agenda.silent": value, "openCommand.number": fixed,
	"agenda.end": inside,

	"timing.tick": fixed, "timing.tickAssumed": fixed, "timing.tickLearned": fixed, "timing.tickDoubted": fixed,
	"timing.asked": fixed, "timing.syncLimit": fixed, "timing.observerMasters": fixed, "timing.timeout": value,
	"timing.timeoutsDiffer": fixed, "timing.since": some,
	"timing.granted": fixed, // all servers of a search grant the same
	// no search asks while idle
	"session.idleFor": fixed, "session.idle": call, "session.idleSync": call, "session.idleSince": recent,
	"session.rideOut": fixed, "session.retry": fixed, "session.jitter": fixed,
	"leaderContact.heard": past, "leaderContact.heardSent": past, "leaderContact.known": pastTimeout,
	"leaderContact.countsFrom": ahead,
	"session.number":           session, "session.opened": fixed, "session.id": zookeeps,
	"session.attached": value, "session.attachedAt": recent, "session.everConnected": value,
	"session.failures": fixed,
	"session.lostTold": value, "session.closing": some, "session.quorum": value, "session.confirmed": recent1,
	// no search says for how long a process did not run
	"session.validUntil": ahead, "session.aloneUntil": ahead, "session.paused": fixed,
	"session.pendingHeartbeat": call, "session.verifying": fixed, // plain names only
	"session.missedHeartbeats": some, "session.maxMissed": some, "session.noContainers": value,
	"session.checkedEntry": inside, "heartbeatEntry.machine": value, "heartbeatEntry.path": name,
	"sharedName.owner": fixed /* of plain names */, "session.syncs": value, "session.checkedAt": past,
	"session.written":  past,
	"session.unserved": inside, "unserved.firstUnserved": pastTimeout, "unserved.lastUnserved": some,
	"unserved.left": some,
	"standalone.id": fixed, "standalone.path": fixed, "sublatch.latchNode": name,
	"shardPlanner.settle": fixed, "shardPlanner.plan": printed, "shardPlanner.changedAt": pastTimeout,
	"shardNode.seed": fixed, "shards.rideOut": fixed, "shardNode.session": zookeeps, "shardNode.me": fixed,
	"shardNode.view": looks, "shardNode.own": name, "shardNode.creating": call, "shardNode.version": version,
	"heldShards.held": shares, "shards.closing": several,

	"session.heartbeats": holders, "session.heartbeat": call, "session.deadline": call, "session.elapsed": call,
}

// stale is the number of a request that nobody awaits any more.
const stale = 255

// pending is what one machine awaits: requests are called by their place in it.
type pending struct{ awaits []engine.Awaited }

func (d pending) call(number uint64) int64 {
	if number == 0 {
		return 0
	}
	for i, a := range d.awaits {
		if a.Request == number {
			return int64(i) + 1
		}
	}
	return stale
}

// machines writes down a client's machines, and returns their pendings.
func (c *client) machines(s *sheet, oldest int64) map[events.ID]pending {
	pendings := map[events.ID]pending{}
	all := reflect.ValueOf(c.engine).Elem().FieldByName("machines")
	for _, id := range c.engine.Machines() {
		d := pending{c.engine.Awaits(id)}
		pendings[id] = d
		s.word(string(c.engine.State(id)))
		for _, a := range d.awaits {
			s.word(string(a.Kind) + a.Name)
		}
		m := all.MapIndex(reflect.ValueOf(id))
		if !m.IsValid() {
			continue
		}
		model := m.Elem().FieldByName("Model").Elem().Elem()
		s.model(model, d, c, oldest)
	}
	return pendings
}

// decided caches how the fields of a type are written.
var decided = map[reflect.Type][]how{}

func decide(t reflect.Type) []how {
	if all, ok := decided[t]; ok {
		return all
	}
	var all []how
	for i := range t.NumField() {
		key := t.Name() + "." + t.Field(i).Name
		h, listed := fields[key]
		switch kind := t.Field(i).Type.Kind(); {
		case listed:
		case kind == reflect.Struct, kind == reflect.Pointer && t.Field(i).Type.Elem().Kind() == reflect.Struct:
			h = inside
		case kind <= reflect.Uint64 || kind == reflect.String:
			h = value
		case kind == reflect.Slice || kind == reflect.Map:
			h = printed
		default:
			panic(fmt.Sprintf("small: list in models.go what %s, a %s, means for a state", key, kind))
		}
		all = append(all, h)
	}
	decided[t] = all
	return all
}

func (s *sheet) model(v reflect.Value, d pending, c *client, oldest int64) {
	for i, h := range decide(v.Type()) {
		f := v.Field(i)
		switch h {
		case fixed:
		case inside:
			if f.Kind() == reflect.Pointer {
				if f.IsNil() {
					s.word("nothing")
					continue
				}
				f = f.Elem()
			}
			s.model(f, d, c, oldest)
		case holders:
			s.add(as, int64(f.FieldByName("entries").Len()))
			for j := range f.FieldByName("entries").Len() {
				s.name(f.FieldByName("entries").Index(j).FieldByName("path").String())
			}
		default:
			s.field(f, h, d, c, oldest)
		}
	}
}

func (s *sheet) field(f reflect.Value, h how, d pending, c *client, oldest int64) {
	switch h {
	case value:
		s.value(f)
	case printed:
		s.word(fmt.Sprint(f))
	case some:
		s.flags(!f.IsZero())
	case several:
		s.add(as, int64(f.Len()))
	case call:
		s.add(as, d.call(f.Uint()))
	case zxid:
		if s.flags(!f.IsZero()); !f.IsZero() {
			s.add(order, f.Int())
		}
	case name:
		s.name(f.String())
	case names:
		for i := range f.Len() {
			s.name(f.Index(i).String())
		}
		s.add(as, int64(f.Len()))
	case uuid:
		s.items = append(s.items, item{sort: guid, word: f.String()})
	case zookeeps:
		s.add(owner, f.Int())
	case session:
		if f.Int() == 0 {
			s.add(as, -1)
			return
		}
		s.add(as, c.number-f.Int())
	case ahead:
		s.time(f.Int(), 1<<62)
	case past: // of an answer: beyond a third, the ensemble's leader may have stood still
		s.items = append(s.items, item{sort: moment, n: f.Int(), floor: 1 << 62, slack: int64(timeout / 2)})
	case pastTimeout:
		s.flags(f.IsZero())
		s.items = append(s.items, item{sort: moment, n: f.Int(), floor: 1 << 62, slack: int64(timeout)})
	case version:
		s.items = append(s.items, item{sort: age, n: f.Int(), word: c.ownMember()})
	case looks:
		s.looks(f, d, c)
	case shares:
		for i := range f.Len() {
			s.add(as, int64(f.Index(i).FieldByName("run").Uint()))
			s.field(f.Index(i).FieldByName("token"), zxid, d, c, oldest)
		}
	case recent, recent1:
		s.items = append(s.items, item{sort: moment, n: f.Int(), floor: oldest, slack: int64(h-recent) * int64(unit)})
	}
}

func (s *sheet) value(f reflect.Value) {
	switch {
	case f.CanInt():
		s.add(as, f.Int())
	case f.CanUint():
		s.add(as, int64(f.Uint()))
	case f.Kind() == reflect.Bool:
		s.flags(f.Bool())
	default:
		s.word(f.String())
	}
}
