package zkio

// suspects are the servers that close the connection in the handshake although
// the session has been without one for long.
//
// A server does so when its last zxid is below the one that the client has
// seen. It may lag; but an ensemble that was wiped or restored from backup does
// it for ever, and would never say that the session is gone. So the next visit
// to such a server is a probe: it claims to have seen nothing, only to hear
// whether the session still exists. It is never used for anything else.
type suspects struct {
	since   int64 // when the session lost its connection; 0 while it has one
	servers map[string]bool
}

// suspect notes that a server closed a connection in the handshake.
func (s *session) suspect(w *wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const patience = 2 // session timeouts: a living ensemble has ended the session by then
	if s.suspects.since == 0 || s.a.cfg.Now()-s.suspects.since < patience*int64(s.timeout) {
		return
	}
	if s.suspects.servers == nil {
		s.suspects.servers = map[string]bool{}
	}
	s.suspects.servers[w.server] = !w.probe
}

// zxid returns the last zxid seen in this session, and whether the connection
// to this server is to be a probe.
func (s *session) zxid(server string) (last int64, probe bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	probe = s.suspects.servers[server]
	delete(s.suspects.servers, server)
	return s.lastZxid, probe
}
