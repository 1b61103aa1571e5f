package world

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Action is one thing that somebody does to a world. It comes before anything else of
// its nanosecond, so that it does the same whether it was in the script from the beginning
// or was added later.
type Action struct {
	At  int64         `json:"at"` // nanoseconds of the world's clock
	Do  string        `json:"do"`
	Who int           `json:"who,omitempty"` // a client, or a server
	For time.Duration `json:"for,omitempty"` // how long it lasts, if it does
}

// Actions on a client.
const (
	Start     = "start"      // a program that waits begins
	Close     = "close"      // it closes its handle, then its session
	Resign    = "resign"     // it releases what it holds, and wants it again
	Kill      = "kill"       // the process is gone; its session runs out
	Freeze    = "freeze"     // nothing of the process runs for a while
	Cut       = "cut"        // its connection ends
	Mute      = "mute"       // nothing arrives on its connection any more, either way
	LoseReply = "lose reply" // its next write is carried out, and the reply is lost
	Misreport = "misreport"  // its next write is carried out, and answered by a code that says nothing about it
	Expire    = "expire"     // the ensemble ends its session
	Delete    = "delete"     // an operator deletes the newest of its own nodes
	Hide      = "hide"       // an operator takes away the right to read it: servers do not tell of its end then
)

// Actions on a server, and on all of them.
const (
	Isolate      = "isolate"       // a follower hears no other server for a while
	Crash        = "crash"         // a follower is away for a while
	FreezeServer = "freeze server" // nothing of a server runs for a while
	Depose       = "depose"        // the ensemble's leader is isolated, and leads on by itself for a while
	SlowDisk     = "slow disk"     // every commit takes up to a third of the session timeout longer, for a while
)

// target is what an action is done to.
type target string

const (
	toClient target = "client"
	toServer target = "server"
	toAll    target = "ensemble"
)

type actionKind struct {
	to    target
	lasts bool // For is required
}

var actions = map[string]actionKind{
	Start: {toClient, false}, Close: {toClient, false}, Resign: {toClient, false}, Kill: {toClient, false},
	Freeze: {toClient, true},
	Cut:    {toClient, false}, Mute: {toClient, false}, LoseReply: {toClient, false}, Misreport: {toClient, false},
	Expire: {toClient, false}, Delete: {toClient, false}, Hide: {toClient, false}, Isolate: {toServer, true},
	Crash: {toServer, true}, FreezeServer: {toServer, true}, Depose: {toAll, true}, SlowDisk: {toAll, true},
}

// Outcome is what came of an action.
type Outcome struct {
	Action Action `json:"action"`
	Why    error  `json:"-"` // why nothing was done; nil if it was done
}

// String returns the outcome in words.
func (o Outcome) String() string {
	if o.Why != nil {
		return fmt.Sprintf("%s %d: not done: %s", o.Action.Do, o.Action.Who, o.Why)
	}
	return fmt.Sprintf("%s %d: done", o.Action.Do, o.Action.Who)
}

// Outcomes returns those of all actions so far, in the order in which they were done.
func (w *World) Outcomes() []Outcome { return slices.Clone(w.outcomes) }

// schedule has an action done before all else at its time.
func (w *World) schedule(i int, d Action) {
	w.queue.push(moment{d.At, uint64(i), func() {
		o := Outcome{d, w.perform(d)}
		w.outcomes = append(w.outcomes, o)
		w.Log("ACTION %s", o)
		w.observer.Done(o)
	}})
}

var (
	errNotStarted   = errors.New("the program was not started yet")
	errStarted      = errors.New("the program was started already")
	errLeaving      = errors.New("the program closes, or has closed")
	errHoldsNothing = errors.New("the program holds nothing that it could release")
	errKeepsShards  = errors.New("a member keeps its shards until others are to own them, or until it closes")
	errSession      = errors.New("the client has no session")
	errNode         = errors.New("the client has no node of its own")
)

// perform does an action.
func (w *World) perform(d Action) error {
	switch actions[d.Do].to {
	case toClient:
		return w.clients[d.Who].act(d)
	case toServer:
		return w.ens.servers[d.Who].act(d)
	}
	e := w.ens
	if d.Do == SlowDisk {
		e.SlowDisk(w.script.Timeout/3, d.For)
		return nil
	}
	election := Between(e.dice.roll(electionDice), w.script.Tick/4, time.Duration(w.script.SyncLimit)*w.script.Tick)
	return e.Depose(d.For, election, 0)
}

// act does an action to the server.
func (s *Server) act(d Action) error {
	switch d.Do {
	case Isolate:
		return s.Isolate(d.For)
	case Crash:
		return s.Crash(d.For)
	}
	if most := time.Duration(s.ens.w.script.SyncLimit) * s.ens.w.script.Tick * 9 / 10; d.For > most {
		return fmt.Errorf("after %s the other servers would give it up", most)
	}
	return s.Freeze(d.For)
}

// act does an action to the client: to its process, or by its program.
func (c *Client) act(d Action) error {
	p := c.program
	if c.Dead() {
		return errDead
	}
	switch d.Do {
	case Kill:
		return c.Kill()
	case Freeze:
		c.Pause(d.For)
		return nil
	case Cut:
		return c.Cut()
	case Mute:
		return c.Mute()
	case LoseReply:
		if c.x.conn == nil {
			return errNoConnection
		}
		c.x.loseReply = true
		return nil
	case Misreport:
		if c.x.conn == nil {
			return errNoConnection
		}
		c.x.misreport = true
		return nil
	case Expire:
		return c.w.ens.Expire(c.x.id)
	case Delete, Hide:
		return c.operateOnOwn(d.Do)
	}
	if c.Paused() {
		return fmt.Errorf("the process is paused until %s", time.Duration(c.paused))
	}
	switch d.Do {
	case Start:
		return p.start()
	case Close:
		return p.close()
	default:
		return p.resign()
	}
}

// operateOnOwn has an operator delete or hide the newest node of the client's session.
func (c *Client) operateOnOwn(do string) error {
	tree, newest, path := c.w.ens.committed, int64(0), ""
	for _, own := range tree.Ephemerals(c.x.id) {
		if _, stat, err := tree.Get(own); err == nil && stat.Czxid > newest {
			path, newest = own, stat.Czxid
		}
	}
	if path == "" {
		return errNode
	}
	if do == Hide {
		return c.w.ens.byHand(zkmem.Op{Code: zkmem.OpSetACL, Path: path, Version: zkmem.AnyVersion,
			ACL: []zkmem.ACL{{Perms: zkmem.PermAll &^ zkmem.PermRead, Scheme: "world", ID: "anyone"}}})
	}
	return c.w.ens.byHand(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
}

// closeSession ends the session.
func (c *Client) closeSession() { c.Ask(events.SessionMachine, events.CommandClose, events.Event{}) }
