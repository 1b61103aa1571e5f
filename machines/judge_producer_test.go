package machines

import (
	"cmp"
	"path"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	putOnce       rule = "an item is put once"
	putWhole      rule = "open puts are put whole, in their order, and no others"
	putProven     rule = "a put is answered as what was shown of it"
	putInPlace    rule = "an item is put in its place"
	putInRoom     rule = "a bounded queue gets what it has room for"
	markerDeleted rule = "a producer that has ended has deleted its markers"
)

var putRules = map[rule]bugs{
	putOnce: {
		"a put sets any version of the marker": doingFirst("send", func(p *producer, _ *events.Event) {
			p.version = anyVersion
		}),
		"what is sent again sets another version": doingThen("noteOutcomeUnknown",
			func(p *producer, _ *engine.Outbox) { p.version++ }),
	},
	putWhole: {
		"a put lacks an item": doingThen("gather", func(p *producer, _ *engine.Outbox) {
			if n := len(p.sending); n > 0 && p.sending[n-1].items > 1 {
				p.sending[n-1].items--
			}
		}),
		"the last put goes first": doingFirst("gather", func(p *producer, _ *events.Event) {
			slices.Reverse(p.queue)
		}),
		"a put is carried out and stays in the queue": doingFirst("succeed", func(p *producer, _ *events.Event) {
			p.queue = append(slices.Clone(p.sending), p.queue...)
		}),
	},
	putProven: {
		"a refusal is taken for success":       guarded(always, "carriedOut"),
		"a lost reply is taken for a refusal":  guarded(never, "mayBeCommitted"),
		"any marker says that it was in a put": guarded(always, "markerSaysCommitted"),
	},
	putInPlace: {
		"all have the same rank": doingThen("gather", func(p *producer, _ *engine.Outbox) {
			for i := range p.sending {
				p.sending[i].namePrefix = p.kind.namePrefix(0, "")
			}
		}),
		"a delay counts from an earlier time": doingFirst("gather", func(p *producer, _ *events.Event) {
			p.clock.millis -= 100
		}),
	},
	putInRoom: {
		"there is always room": guarded(always, "hasRoom"),
		"there is never room":  guarded(never, "hasRoom"),
	},
	markerDeleted: {
		"a marker is left": holdingIf(func(p *producer) bool { return len(p.closing) > 0 }, "closedWithoutMarker"),
	},
}

func init() {
	hasRules("producer", newPutChecker, putRules)
}

// putChecker knows the puts of a producer that were not answered, and the multis that carried them.
type putChecker struct {
	atAnyRest
	queue, markersDir string

	kind    ItemKind
	bound   int64
	open    []*openPut
	sent    map[uint64]*putMulti
	room    int64           // by the last measurement, which holds for one multi
	markers map[string]bool // that exist, as far as is shown; false once their deletion was sent
	time    clock           // of the ensemble's leader
}

type openPut struct {
	command, payload uint64
	items            int
	options          map[string]string
	multis           []*putMulti
}

// putMulti is a multi with items. Of those that set the same version of the same marker at most one is carried out.
type putMulti struct {
	marker         string
	version        int32
	data           string
	answered       bool
	code           events.Code
	carried, taken bool // a read of the marker shows that it was carried out, or that it was not
}

func (m *putMulti) done() bool { return m.carried || m.answered && m.code == events.OK }
func (m *putMulti) refused() bool {
	return m.taken || m.answered && m.code != events.OK && !m.code.Unknown()
}

func newPutChecker(open events.Event) checker {
	return &putChecker{queue: open.Path, markersDir: cmp.Or(open.Options["producers"], ProducersOf(open.Path)),
		kind: ItemKind(cmp.Or(open.Options["kind"], string(FIFO))), bound: optionNumber(open.Options, "bound"),
		sent: map[uint64]*putMulti{}, room: -1, markers: map[string]bool{}}
}

func (c *putChecker) record(j *judge, r events.Record) {
	c.learn(j, r)
	for _, e := range r.Effects {
		switch e := e.(type) {
		case events.Multi:
			c.multi(j, r, e)
		case events.Answer:
			c.answered(j, r.Machine, e)
		case events.Delete:
			if c.markers[e.Path] {
				c.markers[e.Path] = false
			}
		}
	}
	if r.To == string(closed) {
		for marker, there := range c.markers {
			if there {
				j.breaks(markerDeleted, r.Machine, "%s", marker)
			}
		}
	}
}

// learn notes what an event shows.
func (c *putChecker) learn(j *judge, r events.Record) {
	ev := r.Event
	switch asked := j.asked[r.Machine][ev.Request].(type) {
	case events.Multi:
		if m := c.sent[ev.Request]; m != nil && ev.Kind == events.ReplyMulti {
			m.answered, m.code = true, ev.Code
		}
		if ev.Stat != nil && ev.Stat.Mtime != 0 {
			c.time = clock{ev.Stat.Mtime, ev.SentAt, ev.At}
		}
	case events.Create:
		if ev.Kind == events.ReplyCreate && createdOrThere(ev) && path.Dir(asked.Path) == c.markersDir {
			c.markers[asked.Path] = true
		}
	case events.Exists:
		c.room = -1
		if ev.Kind == events.ReplyStat && ev.Code == events.OK && ev.Stat != nil {
			c.room = max(0, c.bound-int64(ev.Stat.NumChildren))
		} else if ev.Code == events.NoNode {
			c.room = c.bound
		}
	case events.Get:
		for _, m := range c.sent {
			if ev.Kind == events.ReplyStat && ev.Code == events.OK && ev.Stat != nil && m.marker == asked.Path {
				m.carried = m.carried || ev.Stat.Version == m.version+1 && string(ev.Data) == m.data
				m.taken = m.taken || ev.Stat.Version == m.version
			}
		}
	}
	if ev.Kind == events.CommandPut {
		items := max(1, int(optionNumber(ev.Options, "items")))
		c.open = append(c.open, &openPut{command: ev.Request, payload: ev.Work, items: items, options: ev.Options})
	}
}

// multi checks what a multi puts.
func (c *putChecker) multi(j *judge, r events.Record, multi events.Multi) {
	guard := multi.Ops[0]
	m := &putMulti{marker: guard.Path, version: guard.Version, data: string(guard.Data)}
	if guard.Verb != "set" || guard.Version < 0 || path.Dir(guard.Path) != c.markersDir {
		j.breaks(putOnce, r.Machine, "nothing keeps %s from being carried out twice", multi)
	}
	c.sent[multi.Request] = m
	creates, again := multi.Ops[1:], false
	for _, p := range c.open {
		if len(creates) == 0 {
			break
		}
		for i := range p.items {
			if i >= len(creates) || creates[i].Verb != "create" || creates[i].Payload != p.payload+uint64(i) {
				j.breaks(putWhole, r.Machine, "put %d is not whole in %s", p.command, multi)
				return
			}
			c.place(j, r, p, creates[i])
		}
		for _, before := range p.multis {
			same := before.marker == m.marker && before.version == m.version
			again = again || same
			if !same && !before.refused() {
				j.breaks(putOnce, r.Machine, "%s, and an earlier one with put %d may be done", multi, p.command)
			}
		}
		creates, p.multis = creates[p.items:], append(p.multis, m)
	}
	if len(creates) > 0 {
		j.breaks(putWhole, r.Machine, "nobody waits for all of %s", multi)
	}
	if n := int64(len(multi.Ops) - 1); c.bound > 0 && n > 0 && !again && n > c.room {
		j.breaks(putInRoom, r.Machine, "%d items for a room of %d", n, c.room)
	}
	c.room = -1
}

// place checks the name of an item.
func (c *putChecker) place(j *judge, r events.Record, p *openPut, op events.Op) {
	item, ok := c.kind.Parse(path.Base(op.Path) + "0000000000")
	good := ok && path.Dir(op.Path) == c.queue && op.Mode == events.PersistentSequential
	switch c.kind {
	case ByPriority:
		good = good && item.Rank == optionNumber(p.options, "priority")
	case ByID:
		good = good && item.ID == FixID(p.options["id"])
	case ByDue:
		delay, err := time.ParseDuration(p.options["delay"])
		if err != nil {
			good = good && item.Rank == optionNumber(p.options, "due")
		} else {
			good = good && c.time.known() && item.Rank >= c.time.least(r.Event.At)+delay.Milliseconds()
		}
	}
	if !good {
		j.breaks(putInPlace, r.Machine, "%s with %v", op.Path, p.options)
	}
}

// answered checks that an answer to a put is what the answers of the ensemble show.
func (c *putChecker) answered(j *judge, id events.ID, a events.Answer) {
	i := slices.IndexFunc(c.open, func(p *openPut) bool { return p.command == a.Command })
	if i < 0 {
		return
	}
	p := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	done := slices.ContainsFunc(p.multis, (*putMulti).done)
	unknown := slices.ContainsFunc(p.multis, func(m *putMulti) bool { return !m.done() && !m.refused() })
	switch {
	case a.Code == events.OK && !done,
		a.Code == events.OutcomeUnknown && (done || !unknown),
		a.Code != events.OK && a.Code != events.OutcomeUnknown && (done || unknown):
		j.breaks(putProven, id, "put %d: %q, carried out: %t, unknown: %t", a.Command, a.Code, done, unknown)
	case a.Code == events.QueueFull && c.room >= int64(p.items):
		j.breaks(putInRoom, id, "put %d of %d items is refused, and there is room for %d", a.Command, p.items, c.room)
	}
}
