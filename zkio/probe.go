package zkio

import (
	"errors"
	"fmt"
)

// rejections are the servers that close the connection in the handshake although the session
// has been without one for long.
//
// A server does so if its last zxid is below the one that the client has seen. It may lag;
// but an ensemble that was wiped or restored from backup does it forever, and would never
// report that the session is gone. So the next connection to such a server is a probe: it
// claims to have seen nothing, only to learn whether the session still exists and, if so,
// which zxid the ensemble has. It is never used for anything else.
type rejections struct {
	since     int64 // when the session lost its connection; 0 while it has one
	probeNext map[string]bool
}

// noteRejection notes that a server closed a connection in the handshake.
func (s *session) noteRejection(w *wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const patience = 2 // session timeouts: by then a working ensemble has ended the session
	if s.rejections.since == 0 || s.a.cfg.Now()-s.rejections.since < patience*int64(s.timeout) {
		return
	}
	if s.rejections.probeNext == nil {
		s.rejections.probeNext = map[string]bool{}
	}
	s.rejections.probeNext[w.server] = !w.probe
}

// zxid returns the last zxid seen in this session, and whether the connection to this server
// has to be a probe.
func (s *session) zxid(server string) (last int64, probe bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	probe = s.rejections.probeNext[server]
	delete(s.rejections.probeNext, server)
	return s.lastZxid, probe
}

// endProbe ends a probe that found the session alive. A sync makes the server learn from the
// ensemble's leader all that was committed. If that is still less than this session has seen,
// the ensemble went back in time and the session with it: no server would ever accept it, and
// only the probes would keep it and its nodes alive. So endProbe closes it.
func (w *wire) endProbe() error {
	const xid = 1 // the keeper sends nothing on this connection
	_, a, err := w.exchange(newFrame(xid, opSync).Bytes([]byte("/")).Finish(), xid)
	switch {
	case err != nil:
		return err
	case a.code != 0:
		_, text := code(a.code)
		return errors.New("it refuses to sync" + withColon(text))
	case a.zxid >= w.since:
		return errors.New("it lagged behind what this session has seen")
	}
	_, _, _ = w.exchange(newFrame(xid+1, opClose).Finish(), xid+1) // if that fails, it times out
	return w.s.lose(fmt.Sprintf("the ensemble went back in time: this session has seen zxid 0x%x, and the "+
		"ensemble is at 0x%x", w.since, a.zxid))
}
