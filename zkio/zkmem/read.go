//go:build !js

package zkmem

import (
	"strings"
)

// read carries out a request that changes no data. Under Server.mu.
func (s *Server) read(c *conn, r request) (Code, func(*encoder)) {
	path := r.op.Path
	switch r.op.Code {
	case OpSync:
		return OK, func(e *encoder) { e.text(path) }
	case OpExists:
		return s.exists(c, r)
	case OpGetACL:
		return s.getACL(c, path)
	case OpSetWatches, OpSetWatches2:
		s.setWatches(c, r)
		return OK, nil
	case OpAddWatch:
		return s.addWatch(c, r)
	case OpWhoAmI:
		return OK, func(e *encoder) { e.identities(c.auth) }
	case OpMultiRead:
		return OK, s.multiRead(c, r.op.Ops)
	case OpCheckWatches, OpRemoveWatches:
		return s.pickWatches(c, r), nil
	case OpGetEphemerals:
		var own []string
		for _, p := range s.tree.Ephemerals(c.session.id) {
			if strings.HasPrefix(p, strings.TrimSpace(path)) {
				own = append(own, p)
			}
		}
		return OK, func(e *encoder) { e.texts(own) }
	}
	return s.content(c, r)
}

// content carries out a request that needs PermRead.
func (s *Server) content(c *conn, r request) (Code, func(*encoder)) {
	path := r.op.Path
	if err := s.tree.Allowed(path, PermRead, c.auth); err != nil {
		return err.(Code), nil
	}
	switch r.op.Code {
	case OpGetData:
		s.watch(c, r, DataWatch)
		data, stat, _ := s.tree.Get(path)
		return OK, func(e *encoder) { e.bytes(data); e.stat(stat) }
	case OpGetChildren:
		s.watch(c, r, ChildWatch)
		names, _, _ := s.tree.Children(path)
		return OK, func(e *encoder) { e.texts(names) }
	case OpGetChildren2:
		s.watch(c, r, ChildWatch)
		names, stat, _ := s.tree.Children(path)
		return OK, func(e *encoder) { e.texts(names); e.stat(stat) }
	}
	count := s.tree.Descendants(path)
	return OK, func(e *encoder) { e.int32(int32(count)) }
}

func (s *Server) watch(c *conn, r request, kind WatchKind) {
	if r.watch {
		s.watches.Add(kind, r.op.Path, c)
	}
}

// exists asks for no permission and sets a watch on a missing node too.
func (s *Server) exists(c *conn, r request) (Code, func(*encoder)) {
	if strings.IndexByte(r.op.Path, 0) >= 0 {
		return BadArguments, nil
	}
	if (s.opts.ExistsNeedsRead || !s.old()) && !s.mayRead(c, r.op.Path) {
		return NoAuth, nil
	}
	s.watch(c, r, DataWatch)
	_, stat, err := s.tree.Get(r.op.Path)
	if err != nil {
		return NoNode, nil
	}
	return OK, func(e *encoder) { e.stat(stat) }
}

// mayRead reports whether a node is missing, or may be read by a connection's client.
func (s *Server) mayRead(c *conn, path string) bool {
	acl, _, err := s.tree.ACL(path)
	return err != nil || allowed(acl, PermRead, c.auth) == OK
}

// getACL hides the digests from callers that may not change them.
func (s *Server) getACL(c *conn, path string) (Code, func(*encoder)) {
	acl, stat, err := s.tree.ACL(path)
	if err != nil {
		return NoNode, nil
	}
	if code := allowed(acl, PermRead|PermAdmin, c.auth); code != OK {
		return code, nil
	}
	shown := acl
	if allowed(acl, PermAdmin, c.auth) != OK {
		shown = make([]ACL, 0, len(acl))
		for _, a := range acl {
			if user, _, ok := strings.Cut(a.ID, ":"); ok && a.Scheme == "digest" {
				a.ID = user + ":x"
			}
			shown = append(shown, a)
		}
	}
	return OK, func(e *encoder) { e.acls(shown); e.stat(stat) }
}

// setWatches arms a client's watches again after a reconnect, and sends the events that it has missed immediately.
func (s *Server) setWatches(c *conn, r request) {
	for _, path := range r.data {
		_, stat, err := s.tree.Get(path)
		switch {
		case err != nil:
			c.sendWatchEvent(unnumbered, Event{Type: NodeDeleted, Path: path})
		case stat.Mzxid > r.since:
			c.sendWatchEvent(unnumbered, Event{Type: NodeDataChanged, Path: path})
		default:
			s.watches.Add(DataWatch, path, c)
		}
	}
	for _, path := range r.exist {
		if s.tree.Exists(path) {
			c.sendWatchEvent(unnumbered, Event{Type: NodeCreated, Path: path})
		} else {
			s.watches.Add(DataWatch, path, c)
		}
	}
	for _, path := range r.child {
		_, stat, err := s.tree.Get(path)
		switch {
		case err != nil:
			c.sendWatchEvent(unnumbered, Event{Type: NodeDeleted, Path: path})
		case stat.Pzxid > r.since:
			c.sendWatchEvent(unnumbered, Event{Type: NodeChildrenChanged, Path: path})
		default:
			s.watches.Add(ChildWatch, path, c)
		}
	}
	for _, path := range r.stay {
		s.watches.AddLasting(path, PersistentWatch, c)
	}
	for _, path := range r.deep {
		s.watches.AddLasting(path, RecursiveWatch, c)
	}
}

func (s *Server) addWatch(c *conn, r request) (Code, func(*encoder)) {
	if r.mode != PersistentWatch && r.mode != RecursiveWatch {
		return MarshallingError, nil
	}
	s.watches.AddLasting(r.op.Path, r.mode, c)
	return OK, func(e *encoder) { e.int32(int32(OK)) }
}

// multiRead carries out each read by itself: one that fails does not end the others.
func (s *Server) multiRead(c *conn, ops []Op) func(*encoder) {
	return func(e *encoder) {
		for _, op := range ops {
			code, body := s.content(c, request{op: op})
			if code != OK {
				e.multiHeader(OpError, false, code)
				e.int32(int32(code))
				continue
			}
			e.multiHeader(op.Code, false, OK)
			body(e)
		}
		e.multiHeader(OpError, true, -1)
	}
}

// identities appends what whoAmI shows: users without their digests, and the super user's scheme without a user.
func (e *encoder) identities(ids []Auth) {
	e.int32(int32(len(ids)))
	for _, id := range ids {
		user := id.ID
		if id.Scheme == "digest" {
			user, _, _ = strings.Cut(user, ":")
		}
		e.text(id.Scheme)
		e.text(user)
	}
}

// pickWatches checks or removes a connection's watches of one kind, or of any.
func (s *Server) pickWatches(c *conn, r request) Code {
	const anyKind, persistent, recursive WatchKind = 3, 4, 5
	last := recursive
	if s.old() {
		last = anyKind
	}
	if r.kind < ChildWatch || r.kind > last {
		return MarshallingError
	}
	found := false
	switch {
	case s.old():
		if r.op.Code == OpCheckWatches && r.op.Path != "" && !strings.Contains(r.op.Path, "/") {
			return MarshallingError // a real server fails to find the parent
		}
		found = s.pickOld(c, r, anyKind)
	case r.kind == anyKind:
		for _, kind := range []WatchKind{ChildWatch, DataWatch} {
			if r.op.Code == OpRemoveWatches {
				found = s.watches.Remove(kind, r.op.Path, c) || found
			} else {
				found = s.watches.Has(kind, r.op.Path, c) || found
			}
		}
	case r.kind == persistent:
		found = s.pickMode(c, r, PersistentWatch, ChildWatch, DataWatch)
	case r.kind == recursive:
		found = s.pickMode(c, r, RecursiveWatch, DataWatch)
	default:
		found = s.pickMode(c, r, OneShotWatch, r.kind)
	}
	if !found {
		return NoWatcher
	}
	return OK
}

// pickOld is pickWatches on 3.8, which knows no modes.
func (s *Server) pickOld(c *conn, r request, anyKind WatchKind) (found bool) {
	for _, kind := range []WatchKind{ChildWatch, DataWatch} {
		switch {
		case r.kind != kind && r.kind != anyKind:
		case r.op.Code == OpRemoveWatches:
			found = s.watches.Remove(kind, r.op.Path, c) || found
		default: // the real server does not check whose watch it is either
			found = s.watches.Count(kind, r.op.Path) > 0 || found
		}
	}
	return found
}

// pickMode checks or removes a connection's watches of one mode.
func (s *Server) pickMode(c *conn, r request, mode WatchMode, kinds ...WatchKind) (found bool) {
	for _, kind := range kinds {
		if r.op.Code == OpRemoveWatches {
			found = s.watches.removeMode(kind, r.op.Path, mode, c) || found
		} else {
			found = s.watches.modes(kind, r.op.Path, c).has(mode) || found
		}
	}
	return found
}
