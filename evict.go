package incumbent

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Evict deletes a participant's node, as an operator who moves leadership does:
// its owner, if it is of this library or a recent Curator, stops leading and
// queues again at the tail. Work under way there ends only when it heeds the
// news, and the next in line may lead before it has.
//
// The participant is one that Line told. Its node is read again, and is deleted
// only if it is still the same one: the same token, untouched since.
//
// Errors: ErrNotInLine when it is not there any more, ErrNotConnected, the
// context's, ErrOutcomeUnknown, or an *Error.
func (c *Client) Evict(ctx context.Context, p Participant) error {
	return c.amend(ctx, p, func(version int32) Op { return DeleteNode(p.Path, version) })
}

// revoke writes Curator's "__REVOKE__" to a participant's node.
func (c *Client) revoke(ctx context.Context, p Participant) error {
	return c.amend(ctx, p, func(version int32) Op { return SetData(p.Path, []byte(machines.Revoke), version) })
}

// amend does something to a participant's node if it is still the one that was
// told: the node is read, and the operation depends on what was read.
func (c *Client) amend(ctx context.Context, p Participant, op func(version int32) Op) error {
	c.check(ctx)
	if p.Path == "" || p.Token == 0 {
		return errors.Join(fmt.Errorf("incumbent: the participant %q with token %d is nobody: want one that Line or Participants has read", p.Path, p.Token), p.Err)
	}
	session := c.io.Current()
	_, stat, err := c.read(ctx, p.Path)
	if err == nil && stat.Czxid != p.Token {
		return fmt.Errorf("%w: %s is another's by now, with token %d", ErrNotInLine, p.Path, stat.Czxid)
	}
	if err == nil {
		_, err = c.commit(ctx, session, op(stat.Version))
	}
	var refused *zkio.Error
	switch {
	case errors.Is(err, ErrOutcomeUnknown), !errors.As(err, &refused): // there is a *zkio.Error in the unknown, too
		return err
	case refused.Code == events.NoNode:
		return fmt.Errorf("%w: %s is gone", ErrNotInLine, p.Path)
	case refused.Code == events.BadVersion:
		return fmt.Errorf("%w: %s was changed in the same moment: look again", ErrNotInLine, p.Path)
	}
	return &Error{refused.Code, p.Path}
}
