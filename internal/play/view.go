package play

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/internal/world"
)

// Span is a time in microseconds since 1970. To 0 has no end yet.
type Span struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Kind string `json:"kind,omitempty"`
}

// Participant is how a participant stands.
type Participant struct {
	Name     string            `json:"name"`
	Begun    bool              `json:"begun"`
	Machines map[string]string `json:"machines"`         // and their states
	Main     string            `json:"main"`             // the one that the program uses
	Holds    bool              `json:"holds"`            // it leads, holds or is inside, as its program knows
	May      int64             `json:"may"`              // until when it may believe; 0: it may not
	Token    string            `json:"token"`            // of its term; "" for none
	Shards   []int             `json:"shards,omitempty"` // that it may believe are its own
	Server   string            `json:"server"`           // that it is connected to; "" for none
	Session  string            `json:"session"`
	Until    int64             `json:"until"` // until when its process does not run; 0: it runs
	Frozen   bool              `json:"frozen"`
	Dead     bool              `json:"dead"`
	Closed   bool              `json:"closed"` // it closes, or has closed
	Pauses   []Span            `json:"pauses"`
}

// Server is how a server stands, and what it has been.
type Server struct {
	Name     string   `json:"name"`
	Role     string   `json:"role"` // "leader", "follower", "observer"; "" if it serves nobody
	Up       bool     `json:"up"`
	Isolated bool     `json:"isolated"`
	Frozen   bool     `json:"frozen"`
	Clients  []string `json:"clients"`
	Spans    []Span   `json:"spans"` // "leads", "serves", "joins", "isolated", "frozen" or "down"
}

// Node is a node that stands.
type Node struct {
	Path  string `json:"path"`
	Owner string `json:"owner"` // the participant whose session owns it; "" for a lasting node
	Token string `json:"token"`
}

// spans returns times as they are answered.
func spans(all []span) []Span {
	out := make([]Span, 0, len(all))
	for _, s := range all {
		one := Span{From: sinceEpoch(s.from), Kind: s.kind}
		if s.to != 0 {
			one.To = sinceEpoch(s.to)
		}
		out = append(out, one)
	}
	return out
}

// participants returns how they stand.
func (r *run) participants() []Participant {
	all := []Participant{}
	for i, c := range r.w.Clients() {
		p := Participant{Name: r.name(c), Begun: c.Begun(), Machines: map[string]string{}, Main: string(c.Main()),
			Holds:  c.Holds() && !c.Dead(),
			Frozen: c.Paused() && !c.Dead(), Dead: c.Dead(), Closed: c.Left(), Pauses: spans(r.pauses[i])}
		for _, id := range c.Engine().Machines() {
			p.Machines[string(id)] = string(c.Engine().State(id))
		}
		if b := r.promises.beliefs[i]; b != nil && b.believes() && !c.Dead() {
			p.May, p.Token = sinceEpoch(c.Deadline().Until-int64(world.Epoch)), token(b.token)
		}
		if p.Shards = r.promises.ownedBy(c); len(p.Shards) > 0 {
			p.May = sinceEpoch(c.Deadline().Until - int64(world.Epoch))
		}
		if c.Conn() != nil {
			p.Server = c.Conn().Server().Name()
		}
		if c.SessionID() != 0 {
			p.Session = hex(c.SessionID())
		}
		if p.Frozen {
			p.Until = sinceEpoch(c.PausedUntil())
		}
		all = append(all, p)
	}
	return all
}

// lives returns how the servers stand.
func (r *run) lives() []Server {
	all := []Server{}
	for _, l := range r.servers {
		s := Server{Name: l.server.Name(), Up: l.server.Up(), Isolated: l.server.Isolated(), Frozen: l.server.Frozen(),
			Clients: []string{}, Spans: spans(l.spans)}
		switch {
		case l.server.Leads():
			s.Role = "leader"
		case l.server.Serving() && l.server.Observer():
			s.Role = "observer"
		case l.server.Serving():
			s.Role = "follower"
		}
		for _, c := range r.w.Clients() {
			if c.Conn() != nil && c.Conn().Server() == l.server {
				s.Clients = append(s.Clients, r.name(c))
			}
		}
		all = append(all, s)
	}
	return all
}

// nodes returns those of the recipe, in the order of their creation.
func (r *run) nodes() []Node {
	type dated struct {
		Node
		czxid int64
	}
	var all []dated
	var walk func(dir string)
	walk = func(dir string) {
		for _, name := range r.w.Ensemble().Children(dir) {
			at := dir + "/" + name
			if _, stat, err := r.w.Ensemble().Committed().Get(at); err == nil {
				all = append(all, dated{Node{at, r.ownerOf(stat.EphemeralOwner), token(stat.Czxid)}, stat.Czxid})
			}
			walk(at)
		}
	}
	walk(path)
	slices.SortFunc(all, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.czxid, b.czxid), strings.Compare(a.Path, b.Path))
	})
	out := []Node{}
	for _, n := range all {
		out = append(out, n.Node)
	}
	return out
}

// digest returns a hash of everything that was recorded.
func (r *run) digest() string {
	h := uint64(14695981039346656037)
	for _, c := range r.w.Clients() {
		h = (h ^ c.Digest()) * 1099511628211
	}
	return fmt.Sprintf("%016x", h)
}
