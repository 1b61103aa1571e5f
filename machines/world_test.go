package machines

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/worlds/oneserver"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// world is an ensemble of one server, one client's executor and its user, as
// small as they can be: enough for events to be plausible in any order.
type world struct {
	*judge
	dice *rand.Rand
	calm bool // no faults any more
	now  int64

	server  oneserver.Server
	watches *zkmem.Watches[events.ID]

	number   int64 // of the session that was asked for last
	alive    bool  // that session, at the server
	attached bool
	pending  []asked           // requests on their way to the server
	inbox    []events.Envelope // what was posted and not taken out
	held     []events.Envelope // replies to creates that come on the next connection
	command  uint64
	works    map[events.ID]int
	tokens   map[string]int64
	timeout  time.Duration
	ride     bool

	oneFlight  string
	generation int // of holds: each has names of its own

	writes, wrote func(events.Request) // are called before a request is carried out, and after it changed something
}

type asked struct {
	from events.ID
	r    events.Request
	sent int64
}

var everybody = []events.ID{"latch", "latch-2", "selector", "selector-2", "election", "mutex", "mutex-2", "mutex-3",
	"readwrite", "readwrite-2", "readwrite-3", "readwrite-4"}

// emptyWorld has no machines yet. The plant may be nil.
func emptyWorld(seed int64, p *plant) *world {
	w := &world{judge: newJudge(p), dice: rand.New(rand.NewSource(seed)), now: int64(time.Second),
		server: oneserver.New(100), watches: zkmem.NewWatches[events.ID](zkmem.Release38),
		works: map[events.ID]int{}, tokens: map[string]int64{}, timeout: 15 * time.Second,
		oneFlight: fmt.Sprint(seed%5 != 4)}
	w.server.Open(others)
	return w
}

func newWorld(seed int64, p *plant) *world {
	w := emptyWorld(seed, p)
	if seed%3 == 1 {
		w.timeout = 4 * time.Second // heartbeats by check
	}
	w.ride = w.dice.Intn(2) == 0
	ride := fmt.Sprint(w.ride)
	w.open("session", "session", "", map[string]string{"rideOut": ride})
	w.open("latch", "latch", "/a/l", map[string]string{"rideOut": ride})
	w.open("latch", "latch-2", "/a/l",
		map[string]string{"retry": "times/3/1s/0s", "healthFailures": "1", "tokenFloor": "120"})
	w.open("selector", "selector", "/a/l", map[string]string{"autoRequeue": "true"})
	w.open("selector", "selector-2", "/a/l", map[string]string{"healthFailures": "1"})
	w.open("election", "election", "/a/l", map[string]string{"rideOut": ride, "prefix": "n_", "healthFailures": "2"})
	w.do("session", events.CommandStart, events.Event{})
	for _, id := range everybody[:5] {
		w.do(id, events.CommandStart, events.Event{})
	}
	return w
}

// holds has the options of the machines that are opened again when they have ended.
var holds = map[events.ID]map[string]string{
	"mutex":   {"revocable": "true"},
	"mutex-2": {"retry": "times/1/1s/0s"},
	"mutex-3": {"try": "true"},

	"readwrite":   nil,
	"readwrite-2": {"revocable": "true", "retry": "times/1/1s/0s"},
	"readwrite-3": {"reads": "true"},
	"readwrite-4": {"reads": "true", "try": "true"},
}

// seek asks for a hold.
func (w *world) seek(id events.ID) {
	w.works[id] = 0
	options := map[string]string{"rideOut": fmt.Sprint(w.ride),
		"tokenFloor": fmt.Sprint(w.server.Zxid() + int64(w.generation%4))}
	for k, v := range holds[id] {
		options[k] = v
	}
	w.generation++
	recipe, _, _ := strings.Cut(string(id), "-")
	w.open(recipe, id, "/a/l", options)
	w.do(id, events.CommandAwait, events.Event{})
}

func (w *world) open(recipe string, id events.ID, path string, options map[string]string) {
	options = maps.Clone(options)
	if recipe != "session" {
		options["oneFlight"] = w.oneFlight
	}
	w.feed(events.Envelope{To: id, Event: events.Event{Kind: events.CommandOpen, Recipe: recipe, Path: path,
		Seed: fmt.Sprint(id, w.generation), Options: options}})
}

func (w *world) do(id events.ID, kind events.Kind, ev events.Event) {
	w.command++
	ev.Kind, ev.Request = kind, w.command
	w.post(id, ev)
}

func (w *world) post(id events.ID, ev events.Event) {
	w.inbox = append(w.inbox, events.Envelope{To: id, Event: ev})
}

// feed has the engine take one event out of the inbox.
func (w *world) feed(env events.Envelope) {
	w.now += int64(w.dice.Intn(int(2 * time.Millisecond)))
	env.Event.At = w.now
	for _, a := range w.step(env.To, env.Event) {
		w.execute(a)
	}
	w.exclusive(func(id events.ID) bool {
		own := w.stat(w.places[id].path())
		return own == nil || own.EphemeralOwner != w.number
	})
}

func (w *world) execute(a engine.Addressed) {
	switch e := a.Effect.(type) {
	case events.Connect:
		w.number, w.alive, w.attached = e.Session, true, false
		w.server.Open(w.number)
	case events.CloseSession:
		w.disconnect()
		w.expire()
		w.post("session", events.Event{Kind: events.ConnectionClosed, Session: e.Session})
	case events.Notify:
		w.notified(a.From, e)
	case events.Request:
		w.mustBeOwn(a.From, e)
		r := asked{a.From, e, w.now}
		switch {
		case e.Header().Session != w.number || !w.alive:
			w.reply(r, events.Event{Code: events.SessionExpired})
		case !w.attached:
			w.reply(r, events.Event{Code: events.NotSent})
		default:
			w.pending = append(w.pending, r)
		}
	}
}

func (w *world) notified(id events.ID, n events.Notify) {
	switch n.What {
	case events.Granted:
		w.works[id]++
	case events.Elected:
		if strings.HasPrefix(string(id), "selector") {
			w.works[id]++
		}
		line := string(id) // of a candidate for a job: its latches have tokens of their own
		if p := w.places[id]; p != nil && p.shared {
			return // together with others, in any order
		} else if p != nil {
			line = p.label // latches lead while selectors and mutexes do
		}
		if n.Token < w.tokens[line] {
			w.wrong("%s: token %d after %d", id, n.Token, w.tokens[line])
		}
		w.tokens[line] = n.Token
	}
}

// mustBeOwn demands that nobody deletes another session's node by its name,
// unless the news that it is another's is still on its way, or its GUID says that
// it is a persistent one of the machine's own.
func (w *world) mustBeOwn(id events.ID, r events.Request) {
	d, deletes := r.(events.Delete)
	if !deletes || strings.Contains(d.Path, guid(string(id), 1)) {
		return
	}
	node := w.stat(d.Path)
	if node == nil || node.EphemeralOwner == w.number {
		return
	}
	told := slices.ContainsFunc(w.inbox, func(env events.Envelope) bool {
		return env.To == id && (env.Event.Path == d.Path || env.Event.Kind == events.ConnectionLost) ||
			env.To == events.SessionMachine
	})
	asked := slices.ContainsFunc(w.pending, func(a asked) bool {
		get, reads := a.r.(events.Get)
		return a.from == id && reads && get.Path == d.Path
	})
	if !told && !asked {
		w.wrong("%s: deletes %s, which session %d owns", id, d.Path, node.EphemeralOwner)
	}
}

// reply posts the answer to a request.
func (w *world) reply(r asked, ev events.Event) {
	h := r.r.Header()
	ev.Request, ev.Session, ev.SentAt = h.Request, h.Session, r.sent
	switch e := r.r.(type) {
	case events.Create:
		ev.Kind = events.ReplyCreate
		if ev.Path == "" {
			ev.Path = e.Path
		}
	case events.Delete:
		ev.Kind, ev.Path = events.ReplyDelete, e.Path
	case events.Get:
		ev.Kind, ev.Path = events.ReplyStat, e.Path
	case events.Exists:
		ev.Kind, ev.Path = events.ReplyStat, e.Path
	case events.Children:
		ev.Kind, ev.Path = events.ReplyChildren, e.Path
	case events.Multi:
		ev.Kind = events.ReplyMulti
	case events.Sync:
		ev.Kind, ev.Path = events.ReplySync, e.Path
	}
	w.post(r.from, ev)
}

// serve has the server deal with the oldest request, and say so unless mute.
func (w *world) serve(mute bool) {
	r := w.pending[0]
	w.pending = w.pending[1:]
	ev := w.carryOut(r)
	if !mute {
		w.reply(r, ev)
	}
}

// disconnect ends the connection. Some creates that were carried out are answered on the next one:
// zkio answers them before, but no machine depends on that.
func (w *world) disconnect() {
	if !w.attached {
		return
	}
	w.attached = false
	w.post("session", events.Event{Kind: events.ConnectionSuspended, Session: w.number, Code: events.ConnectionLoss})
	for _, r := range w.pending {
		ev := events.Event{Code: events.ConnectionLoss}
		if w.dice.Intn(2) == 0 {
			done := w.carryOut(r)
			if _, create := r.r.(events.Create); create && done.Code == events.OK && w.dice.Intn(3) == 0 && !w.calm {
				w.reply(r, done)
				w.held, w.inbox = append(w.held, w.inbox[len(w.inbox)-1]), w.inbox[:len(w.inbox)-1]
				continue
			}
		}
		w.reply(r, ev)
	}
	w.pending = nil
}

func (w *world) attach() {
	if w.alive && !w.attached {
		w.attached = true
		w.post("session", events.Event{Kind: events.ConnectionAttached, Session: w.number, SessionID: w.number,
			Timeout: int64(w.timeout)})
		w.inbox, w.held = append(w.inbox, w.held...), nil
	}
}

func isHold(id events.ID) bool { _, hold := holds[id]; return hold }
