package incumbent

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Evict deletes a participant's node, as an operator does to move leadership. Its owner, if
// it is of this library or a recent Curator, stops leading and queues again at the tail.
// Work under way there ends only when it reacts, and the next in line may lead before that.
// Evict deletes a persistent node, too, which blocks its line: see Line.Blocker.
//
// Pass a participant that Line returned. Its node is read again, and is deleted only if it
// is still the same one: the same token, not changed since.
//
// Errors: ErrNotInLine if it is not there any longer, ErrNotConnected, the context's,
// ErrOutcomeUnknown, or an *Error.
func (c *Client) Evict(ctx context.Context, p Participant) error {
	return c.changeParticipant(ctx, "evict", p, func(version int32) Op { return DeleteNode(p.Path, version) })
}

// revoke writes Curator's "__REVOKE__" to a participant's node.
func (c *Client) revoke(ctx context.Context, p Participant) error {
	return c.changeParticipant(ctx, "revoke", p, func(version int32) Op { return SetData(p.Path, []byte(machines.Revoke), version) })
}

// changeParticipant applies an operation to a participant's node if it is still the one of p: the node
// is read, and the operation depends on what was read.
func (c *Client) changeParticipant(ctx context.Context, name string, p Participant, op func(version int32) Op) error {
	c.check(ctx)
	if p.Path == "" || p.Token == 0 {
		return fault.Together(fmt.Errorf("incumbent: the participant %s with token %d has no path or no token: "+
			"want one that Line or Participants has read", fault.Quoted(p.Path), p.Token), p.Err)
	}
	session := c.io.Current()
	_, stat, err := c.read(ctx, p.Path)
	if err == nil && stat.Czxid != p.Token {
		return fmt.Errorf("%w: %s is another participant's node by now, with token %d", ErrNotInLine,
			fault.Path(p.Path), stat.Czxid)
	}
	if err == nil {
		_, err = c.commit(ctx, session, machines.InVersion(op(stat.Version).event())...)
	}
	var refused *zkio.Error
	switch {
	case errors.Is(err, ErrOutcomeUnknown), !errors.As(err, &refused): // an unknown outcome has a *zkio.Error, too
		return renamed(name, p.Path, err)
	case refused.Code == events.NoNode:
		return fmt.Errorf("%w: %s is gone", ErrNotInLine, fault.Path(p.Path))
	case refused.Code == events.BadVersion:
		return fmt.Errorf("%w: %s was changed in the same moment: read the line again", ErrNotInLine,
			fault.Path(p.Path))
	}
	return &Error{refused.Code, p.Path}
}
