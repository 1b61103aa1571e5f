package incumbent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Participant is somebody in a line, as seen from outside.
type Participant struct {
	Recipe string // the line: "latch"; "lock", in which selectors and mutexes look the same; "kazoo", kazoo's locks
	Path   string // the own node
	ID     string // the node's data: what its owner calls itself. It is foreign text: escape it before showing it.
	Token  int64  // the node's czxid
	Owner  int64  // ZooKeeper's id of the session that owns the node; 0 for a persistent node, which never goes
	Leads  bool   // first in line
	Err    error  // why the node could not be read, if so
}

// Line is a directory's participants in queue order, the leader first.
type Line struct {
	Participants []Participant
	Foreign      int // children that belong to no recipe: they are ignored
	// Missing says that there is no such directory. Nobody has queued there yet,
	// or everybody has gone and it with them, or the path is mistyped.
	Missing bool
}

// Leader is the first in line; false when nobody is.
func (l Line) Leader() (Participant, bool) {
	if len(l.Participants) == 0 {
		return Participant{}, false
	}
	return l.Participants[0], true
}

// of is the participants of one kind of line.
func (l Line) of(recipe string) []Participant {
	return slices.DeleteFunc(slices.Clone(l.Participants), func(p Participant) bool { return p.Recipe != recipe })
}

// Line reads who is in line, from the server that the client is connected to,
// which may lag behind the ensemble's leader. Nodes that vanish meanwhile are
// left out. A directory that does not exist is an empty line, with Missing set.
//
// Errors: ErrNotConnected, the context's, or an *Error.
func (c *Client) Line(ctx context.Context, path string) (Line, error) {
	if err := checkPath(path); err != nil {
		return Line{}, err
	}
	children, err := c.io.List(ctx, path)
	if err != nil {
		if refused := refusal(err); refused != nil {
			if refused.Code == events.NoNode {
				return Line{Missing: true}, nil
			}
			return Line{}, refused
		}
		return Line{}, err
	}
	return c.readLine(ctx, path, children)
}

// CheckPath says what is wrong with the path of a line, and what would be right:
// the error that Latch, Selector and Line would return, before there is a Client.
func CheckPath(path string) error { return checkPath(path) }

// readers is how many nodes of a line are read at a time.
const readers = 16

func (c *Client) readLine(ctx context.Context, path string, children []string) (Line, error) {
	places, foreign := machines.Places(children)
	found := make([]*Participant, len(places))
	errs := make([]error, len(places))
	var all sync.WaitGroup
	slots := make(chan struct{}, readers)
	for i, place := range places {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			found[i], errs[i] = c.readParticipant(ctx, path+"/"+place.Name, place)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return Line{}, err
	}
	line := Line{Foreign: foreign}
	leads := map[string]bool{}
	for _, p := range found {
		if p != nil {
			p.Leads = !leads[p.Recipe]
			leads[p.Recipe] = true
			line.Participants = append(line.Participants, *p)
		}
	}
	return line, nil
}

// readParticipant returns nil for a node that has gone meanwhile.
func (c *Client) readParticipant(ctx context.Context, path string, place machines.Place) (*Participant, error) {
	p := &Participant{Recipe: place.Recipe, Path: path}
	data, stat, err := c.io.Read(ctx, path)
	refused := refusal(err)
	switch {
	case err == nil:
		p.ID, p.Token, p.Owner = string(data), stat.Czxid, stat.EphemeralOwner
	case refused != nil && refused.Code == events.NoNode:
		return nil, nil
	case refused != nil && !refused.Code.Passing():
		p.Err = refused
	default:
		return nil, err
	}
	return p, nil
}

func refusal(err error) *Error {
	var e *zkio.Error
	if errors.As(err, &e) {
		return &Error{e.Code, fmt.Sprintf("%s %s", e.Path, e.Text)}
	}
	return nil
}

// Participants are the handle's line in queue order; see Client.Line.
func (p *participant) Participants(ctx context.Context) ([]Participant, error) {
	line, err := p.client.Line(ctx, p.path)
	return line.Participants, err
}

// Leader is the first in the handle's line; false when nobody is.
func (p *participant) Leader(ctx context.Context) (Participant, bool, error) {
	line, err := p.client.Line(ctx, p.path)
	leader, ok := line.Leader()
	return leader, ok, err
}
