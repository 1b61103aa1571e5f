package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
)

// maxListRead bounds the read of an access list, for an error.
const maxListRead = 2 * time.Second

// maxEntries is how many entries of an access list an error has, and maxEntry how many bytes of each.
const (
	maxEntries = 8
	maxEntry   = 128
)

// closedLineError is a refusal by an access list, with that list and what to do.
type closedLineError struct {
	refusal error
	text    string
}

func (e *closedLineError) Error() string {
	return events.Foreign(e.refusal.Error()+": "+e.text, fault.MaxText)
}

func (e *closedLineError) Unwrap() error { return e.refusal }

// withList returns the error of a participant that an access list does not admit with that list, if it can be read. Other
// errors are returned as they are.
func (p *participant) withList(ctx context.Context, err error) error {
	if !errors.Is(err, ErrNoAuth) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxListRead)
	defer cancel()
	path, list, unread := p.client.nearestList(ctx, p.path)
	admits := fmt.Sprintf("the access list of %s, which may not be read, does not admit this client", fault.Path(path))
	if unread == nil {
		admits = fmt.Sprintf("the access list of %s does not admit this client for this, it has %s", fault.Path(path),
			listText(list))
	}
	return &closedLineError{err, admits + "; an operator has to change it, and every participant has to create with " +
		"a list that has all of them: Config.ACL"}
}

// nearestList returns the access list of a node, or of the lowest node above it that exists.
func (c *Client) nearestList(ctx context.Context, path string) (of string, list []ACL, err error) {
	for {
		entries, err := c.io.AccessList(ctx, path)
		var refused *zkio.Error
		if errors.As(err, &refused) && refused.Code == events.NoNode && path != "/" {
			path = path[:max(strings.LastIndexByte(path, '/'), 1)]
			continue
		}
		for _, entry := range entries {
			list = append(list, ACL(entry))
		}
		return path, list, err
	}
}

// listText returns an access list as --acl takes it, but without the digests of passwords.
func listText(list []ACL) string {
	var parts []string
	for i, entry := range list {
		if i == maxEntries {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		id := entry.ID
		if entry.Scheme == "digest" {
			user, _, _ := strings.Cut(id, ":")
			id = user + ":…"
		}
		if len(id) > maxEntry {
			id = strings.ToValidUTF8(id[:maxEntry], "") + "…"
		}
		perms := ""
		for at, letter := range "rwcda" {
			if entry.Perms&(1<<at) != 0 {
				perms += string(letter)
			}
		}
		parts = append(parts, events.Foreign(entry.Scheme+":"+id, events.MaxText)+":"+perms)
	}
	return strings.Join(parts, ", ")
}
