package doctor

import (
	"context"
	"crypto/rand"
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Permissions of access lists.
const (
	permRead   = 1
	permWrite  = 2
	permCreate = 4
	permDelete = 8
	permAdmin  = 16
	permAll    = permRead | permWrite | permCreate | permDelete | permAdmin
)

// letters writes permissions as ZooKeeper's own tools do.
func letters(perms int32) (text string) {
	for _, p := range []struct {
		bit    int32
		letter string
	}{{permCreate, "c"}, {permDelete, "d"}, {permRead, "r"}, {permWrite, "w"}, {permAdmin, "a"}} {
		if perms&p.bit != 0 {
			text += p.letter
		}
	}
	return text
}

// askRights finds out what a stranger may do in the directory and in those above, and what this client may in the
// nearest of them that exists.
func (l *Line) askRights(c *session, dir string) error {
	if !l.Missing {
		all, code, err := readACL(c, dir)
		if err != nil {
			return err
		}
		if code == codeOK {
			l.rights = all
			l.Stranger = letters(stranger(all))
			for _, e := range all {
				l.ACL = append(l.ACL, e.String())
			}
		}
	}
	nearest := ""
	if !l.Missing {
		nearest = dir
	}
	for above := dir; above != "/"; {
		above = path.Dir(above)
		all, code, err := readACL(c, above)
		if err != nil {
			return err
		}
		if code == codeNoNode {
			continue
		}
		if nearest == "" {
			nearest = above
		}
		l.above = append(l.above, parent{l.shown(above), letters(stranger(all)), above == "/"})
	}
	var err error
	l.MayCreate, l.MayDelete, l.untried, err = c.may(nearest)
	return err
}

// may reports whether the session may create nodes in a directory, and delete them there, nil if that is not known. It
// asks for a transaction that does both, and that fails after that, so nothing is written.
func (c *session) may(dir string) (create, remove *bool, untried string, err error) {
	node := path.Join(dir, scratchName())
	all := part(nil, opCreate).Text(node).Bytes(nil)
	all = all.Int32(1).Int32(permAll).Text("world").Text("anyone").Int32(0)
	all = part(all, opDelete).Text(node).Int32(-1)
	all = end(part(all, opCheck).Text(node).Int32(-1)) // of a node that is gone
	b, code, err := c.request(opMulti, all)
	for i := 0; err == nil && code == codeOK && i < 3; i++ {
		kind := b.Int32()
		_, code = b.Take(1), b.Int32()
		if kind == resultError {
			code = b.Int32()
		}
		switch yes := code != codeNoAuth; {
		case b.Bad:
			return nil, nil, "", errMalformed
		case i == 0 && (code == codeOK || !yes):
			create = &yes
		case i == 1 && (code == codeOK || !yes):
			remove = &yes
		}
	}
	return create, remove, "of a transaction that tries it, " + refusal(code), err
}

// scratchName is the name of a node that nobody else has.
func scratchName() string { return "incumbent-doctor-" + strings.ToLower(rand.Text()) }

// tryStranger tries whether a client without credentials may create a node although only names may, by the access
// list: then the server does not check access lists.
func (f *Facts) tryStranger(ctx context.Context, l *Line, dir string) error {
	s := &f.settings
	others := func(e entry) bool { return e.perms&permCreate != 0 && e.scheme != "digest" && e.scheme != "sasl" }
	if l.Missing || l.rights == nil || slices.ContainsFunc(l.rights, others) || s.TLS != nil && s.TLS.Cert != "" {
		return nil
	}
	may := l.MayCreate
	if len(s.Auth) > 0 || s.SASL != nil {
		c, err := s.open(ctx, l.server.Address, s.Timeout, identity{}, false)
		if err != nil {
			return err
		}
		defer c.close()
		c.trying = true // a server that demands a login may end the connection
		if may, _, _, err = c.may(dir); err != nil {
			may = nil
		}
	}
	if l.unchecked = may != nil && *may; l.unchecked {
		l.Stranger = letters(permAll)
	}
	return nil
}

func readACL(c *session, node string) ([]entry, int32, error) {
	b, code, err := c.request(opGetACL, about(node))
	if err != nil || code != codeOK {
		return nil, code, err
	}
	all := readEntries(b)
	if b.Bad {
		return nil, 0, errMalformed
	}
	return all, code, nil
}

// stranger returns what everybody may do.
func stranger(all []entry) (perms int32) {
	for _, e := range all {
		if e.scheme == "world" && e.id == "anyone" {
			perms |= e.perms
		}
	}
	return perms
}

// String returns the entry as ZooKeeper's tools write it, without the digest of a password.
func (e entry) String() string {
	id := e.id
	if user, _, found := strings.Cut(id, ":"); found && e.scheme == "digest" {
		id = user + ":…"
	}
	return events.Foreign(e.scheme+":"+id+":"+letters(e.perms), events.MaxText)
}
