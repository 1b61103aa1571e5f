package zkmem

import "strings"

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
	s.watch(c, r, DataWatch)
	_, stat, err := s.tree.Get(r.op.Path)
	if err != nil {
		return NoNode, nil
	}
	return OK, func(e *encoder) { e.stat(stat) }
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
			c.sendWatchEvent(Event{Type: NodeDeleted, Path: path})
		case stat.Mzxid > r.since:
			c.sendWatchEvent(Event{Type: NodeDataChanged, Path: path})
		default:
			s.watches.Add(DataWatch, path, c)
		}
	}
	for _, path := range r.exist {
		if s.tree.Exists(path) {
			c.sendWatchEvent(Event{Type: NodeCreated, Path: path})
		} else {
			s.watches.Add(DataWatch, path, c)
		}
	}
	for _, path := range r.child {
		_, stat, err := s.tree.Get(path)
		switch {
		case err != nil:
			c.sendWatchEvent(Event{Type: NodeDeleted, Path: path})
		case stat.Pzxid > r.since:
			c.sendWatchEvent(Event{Type: NodeChildrenChanged, Path: path})
		default:
			s.watches.Add(ChildWatch, path, c)
		}
	}
}

// pickWatches checks or removes a connection's watches of one kind, or of any.
func (s *Server) pickWatches(c *conn, r request) Code {
	const anyKind WatchKind = 3
	if r.kind < ChildWatch || r.kind > anyKind {
		return MarshallingError
	}
	found := false
	for _, kind := range []WatchKind{ChildWatch, DataWatch} {
		switch {
		case r.kind != kind && r.kind != anyKind:
		case r.op.Code == OpRemoveWatches:
			found = s.watches.Remove(kind, r.op.Path, c) || found
		default: // the real server does not check whose watch it is either
			found = s.watches.Count(kind, r.op.Path) > 0 || found
		}
	}
	if !found {
		return NoWatcher
	}
	return OK
}
