package wire

import (
	"bytes"
	"sync"
	"time"
)

// sightings is what the network sees of the clients' frames: what the library says about them is compared with it.
type sightings struct {
	w *world

	mu       sync.Mutex
	frames   [][]sighting           // by client, in the order in which they were sent
	sessions map[*link]int64        // that a server confirmed
	zxids    []map[int64]int64      // by client and session: the highest that a reply brought
	last     map[int64]time.Time    // by session: when its client read a reply last
	closes   map[int64]bool         // sessions that a client asked to close
	sends    map[string][]int64     // by path of onceDir: the sessions in which a request for it was sent
	over     []map[string]time.Time // by client: paths that it watches no longer, and since when
}

// sighting is one frame of a client that reached a server.
type sighting struct {
	sent, arrived time.Time
	handshake     bool
}

func newSightings(w *world) *sightings {
	s := &sightings{
		w: w, frames: make([][]sighting, w.plan.clients), sessions: map[*link]int64{}, last: map[int64]time.Time{},
		closes: map[int64]bool{}, sends: map[string][]int64{},
	}
	for range w.plan.clients {
		s.zxids = append(s.zxids, map[int64]int64{})
		s.over = append(s.over, map[string]time.Time{})
	}
	return s
}

// leaves is called when a client sends a frame. What it returns is called when a server reads it.
func (l *link) leaves(frame []byte, op int, now time.Time) (arrived func()) {
	w, s, c := l.w, l.w.seen, l.client.number
	switch {
	case op == opReconnect:
		s.claims(l, frame)
	case op == opSetWatches:
		s.rearms(l, frame, now)
	case op == opClose:
		s.closing(l)
	case needsEnsemble(op):
		s.asks(l, frame)
	}
	return func() {
		s.mu.Lock()
		s.frames[c] = append(s.frames[c], sighting{now, time.Now(), op == opReconnect})
		session := s.sessions[l]
		s.mu.Unlock()
		w.leader.heard(session, l.server)
		w.look()
	}
}

// arrives is called when a client reads a frame of a server.
func (l *link) arrives(frame []byte, first bool) {
	s, c := l.w.seen, l.client.number
	if zxid, reply := zxidOf(frame); reply && !first {
		s.mu.Lock()
		session := s.sessions[l]
		s.zxids[c][session] = max(s.zxids[c][session], zxid)
		s.last[session] = time.Now()
		s.mu.Unlock()
	}
	l.w.look()
}

// greeted is called when a server has answered a handshake.
func (l *link) greeted(session int64) {
	s := l.w.seen
	s.mu.Lock()
	s.sessions[l] = session
	s.mu.Unlock()
	if session != 0 {
		l.w.leader.validated(session, l.server)
	}
}

// clientOf returns the name of the client that has a session, for the story.
func (s *sightings) clientOf(session int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l, id := range s.sessions {
		if id == session {
			return l.client.name
		}
	}
	return "no client that heard of it"
}

// claims checks that a client that reconnects says what it has seen: otherwise it could get to a server whose state is
// older, without anybody noticing. A probe claims to have seen nothing; none comes before two session timeouts.
func (s *sightings) claims(l *link, frame []byte) {
	claimed, session := handshakeOf(frame)
	s.mu.Lock()
	seen, last := s.zxids[l.client.number][session], s.last[session]
	s.mu.Unlock()
	probe := claimed == 0 && time.Since(last) > 2*s.w.plan.timeout
	if session != 0 && claimed < seen && !probe {
		s.w.fail("a client says what it has seen", "%s claims zxid %d in session %x, and has seen %d", l,
			claimed, session, seen)
	}
}

// rearms checks that no watch is armed again for which no machine waits.
func (s *sightings) rearms(l *link, frame []byte, now time.Time) {
	const margin = time.Second
	seen := map[string]bool{}
	for _, path := range watchesOf(frame) {
		s.mu.Lock()
		since, over := s.over[l.client.number][path]
		s.mu.Unlock()
		if over && now.Sub(since) > margin+s.w.plan.timeout {
			s.w.fail("no watch of a machine that is over", "%s arms %s, which nobody has watched for %s", l,
				path, now.Sub(since))
		}
		seen[path] = true
	}
}

// asks notes a write that no other call asks for.
func (s *sightings) asks(l *link, frame []byte) {
	at := bytes.Index(frame, []byte(onceDir+"/"))
	if at < 4 {
		return
	}
	path := string(frame[at : at+int(frame[at-1])])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sends[path] = append(s.sends[path], s.sessions[l])
}

// unwatched notes that a client's feed has ended.
func (s *sightings) unwatched(c *client, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over[c.number][path] = time.Now()
}

// sentIn returns the sessions in which a request for a path was sent.
func (s *sightings) sentIn(path string) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sends[path]
}

// closing notes that a client asks for the end of its session.
func (s *sightings) closing(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closes[s.sessions[l]] = true
}

// closed reports whether a client asked for the end of this session.
func (s *sightings) closed(session int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closes[session]
}
