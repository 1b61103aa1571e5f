//go:build !js

package zkmem

import "time"

// Do carries out one operation as an operator, with all permissions, as a person with zkCli would. It returns its
// Result, whose Err (of the first failure in a multi) is also the error. A member of an ensemble has the leader do it;
// the error is another one if there is none with a quorum.
func (s *Server) Do(op Op) (Result, error) { return s.DoFor(0, op) }

// DoFor carries out one operation for a client's session, as a server does that carries a request out after it has
// answered it. The client gets no answer to it. Result and error are as Do's.
func (s *Server) DoFor(session int64, op Op) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	caller := Operator()
	caller.Session = session
	result, err := s.operate(caller, op)
	s.notify()
	return result, err
}

// Create creates a node that every client may use and returns its path, with the number of a sequential mode.
func (s *Server) Create(path string, data []byte, mode Mode) (string, error) {
	result, err := s.Do(Op{Code: OpCreate2, Path: path, Data: data, Mode: mode, ACL: OpenACL()})
	return result.Path, err
}

// Delete deletes a node of any version.
func (s *Server) Delete(path string) error {
	_, err := s.Do(Op{Code: OpDelete, Path: path, Version: AnyVersion})
	return err
}

// Set replaces a node's data.
func (s *Server) Set(path string, data []byte) error {
	_, err := s.Do(Op{Code: OpSetData, Path: path, Data: data, Version: AnyVersion})
	return err
}

// SetSequence sets the counter that names the next sequential child of a node.
func (s *Server) SetSequence(path string, next int32) error {
	_, err := s.Do(Op{Code: OpSetSequence, Path: path, Number: next})
	return err
}

// ReapContainers deletes the empty containers and the nodes that have outlived their TTL now, and returns their
// number; the server does it every ContainerInterval too.
func (s *Server) ReapContainers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reapContainers()
}

// Snapshot returns a copy of the tree.
func (s *Server) Snapshot() *Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.Clone()
}

// Restore replaces the tree by a copy of another, as after a restore from backup: the zxid is the other's, all
// connections are cut, the sessions are those of the other tree, with their whole timeout. For a member of an ensemble
// it replaces the trees of all, which elect a leader then.
func (s *Server) Restore(tree *Tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member != nil {
		s.member.ens.restore(tree)
		return
	}
	s.dropAll()
	for _, session := range s.sessions {
		session.timer.Stop()
	}
	s.sessions = map[int64]*session{}
	s.adopt(tree)
	for _, id := range s.tree.Sessions() {
		timeout, _ := s.tree.SessionTimeout(id)
		session := s.track(id, time.Duration(timeout)*time.Millisecond)
		if s.stopped {
			session.timer.Stop()
		}
	}
	s.notify()
}

// Wipe empties the tree: nodes, sessions and the zxid, as if the ensemble were new.
func (s *Server) Wipe() { s.Restore(NewTree()) }

// OnApply calls f with every transaction and its outcome, in order, for a follower's [Tree]. f runs inside the
// server. nil ends it.
func (s *Server) OnApply(f func(Txn, Result)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onApply = f
}
