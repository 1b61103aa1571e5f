package zkio

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// suspects are large requests that were not answered before their connection ended. A server closes the connection if a
// request is larger than its jute.maxbuffer, and says nothing; so does a proxy. Such a request would be sent again
// right after every reconnect, and take the connection from all others without end. So one that was pending at the
// ends of two connections waits behind all others, for a pause of its own. After two ends more it fails, with an
// error that names it, and is tried seldom. An answer ends the suspicion.
type suspects struct {
	mu    sync.Mutex // held for no call of others
	known map[suspect]*ends
}

// suspect is what is the same if a machine sends its request again.
type suspect struct {
	verb, path string
	size       int
}

// ends are the connections that ended with one request pending, since the last answer to it.
type ends struct {
	count int
	until int64 // it is not sent before
}

const (
	// leastSuspect is the size of the smallest request, in bytes, that is suspected. No server is of use that takes
	// less, and the requests for places and heartbeats are smaller.
	leastSuspect = 4 << 10
	// likelySuspect is the size from which a request is named as the probable reason of the first end.
	likelySuspect = 100_000
	maxSuspects   = 256 // that are known at a time

	pauseFrom  = 2 // so many ends are followed by a pause, of suspectPause,
	refuseFrom = 4 // and so many by an error, for refusePause

	suspectPause   = time.Second // doubled at the next end
	refusePause    = time.Minute // doubled at each further end,
	maxRefusePause = 10 * time.Minute
)

// suspectOf returns the key of a request, and false if it is too small. That of a multi is of its largest operation.
func suspectOf(c *call) (suspect, bool) {
	if c.size < leastSuspect {
		return suspect{}, false
	}
	s := suspect{verb: strings.TrimPrefix(string(c.kind), "reply."), path: c.path, size: c.size}
	if multi, ok := c.request.(events.Multi); ok {
		largest := -1
		for _, op := range multi.Ops {
			if len(op.Data) > largest {
				largest, s.verb, s.path = len(op.Data), op.Verb, op.Path
			}
		}
	}
	return s, true
}

// ended notes that a connection has ended while a request was pending on it.
func (s *suspects) ended(c *call, now int64) {
	key, large := suspectOf(c)
	if !large {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= maxSuspects {
		s.known = map[suspect]*ends{}
	}
	e := s.known[key]
	if e == nil {
		e = &ends{}
		s.known[key] = e
	}
	switch e.count++; {
	case e.count >= refuseFrom:
		e.until = now + int64(min(refusePause<<min(e.count-refuseFrom, 8), maxRefusePause))
	case e.count >= pauseFrom:
		e.until = now + int64(suspectPause<<(e.count-pauseFrom))
	}
}

// answered ends the suspicion of a request that a server has answered.
func (s *suspects) answered(c *call) {
	if key, large := suspectOf(c); large {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.known, key)
	}
}

// judge returns for how long a request has to wait before it is sent, or why it is not sent at all.
func (s *suspects) judge(c *call, now int64) (wait time.Duration, why string) {
	key, large := suspectOf(c)
	if !large {
		return 0, ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[key]
	if e == nil || e.count < pauseFrom {
		return 0, ""
	}
	if e.count >= refuseFrom && now < e.until {
		return 0,
			fmt.Sprintf("%s %s: the last %d connections ended while this request of %d bytes was "+
				"pending: servers take "+
				"fewer (jute.maxbuffer); raise it there, or send less and set Config.MaxRequest to it",
				key.verb, key.path,
				e.count, key.size)
	}
	return time.Duration(max(e.until-now, 1)), ""
}

// queue puts a call into its lane, unless it is suspected. s.mu is held.
func (s *session) queue(c *call) {
	wait, why := s.a.suspects.judge(c, s.a.cfg.Now())
	switch {
	case why != "":
		s.answer(c, c.event(events.NotSent, why), Kept{})
	case wait > 0:
		s.park(c, wait)
	default:
		s.lanes.push(c)
		s.advance()
	}
}

// park keeps a suspected call back. It is sent alone, when nothing else is pending or waits.
func (s *session) park(c *call, wait time.Duration) {
	s.parked = append(s.parked, c)
	time.AfterFunc(wait, func() { s.unpark(c) })
}

// unparkPause is how long a parked call waits for others before it looks again.
const unparkPause = 10 * time.Millisecond

// maxUnparks is how often it looks.
const maxUnparks = 500

// unpark sends a call whose pause is over, unless its connection has ended.
func (s *session) unpark(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.parked, c)
	if i < 0 || s.over || s.closing || s.wire == nil {
		return
	}
	if c.unparks++; c.unparks < maxUnparks && (len(s.pending) > 0 || s.lanes.ready()) {
		time.AfterFunc(unparkPause, func() { s.unpark(c) })
		return
	}
	s.parked = slices.Delete(s.parked, i, i+1)
	s.lanes.push(c)
	s.advance()
}

// inFlightText adds to the text of the end of a connection what a large request's caller has to know.
func (c *call) inFlightText(text string) string {
	if c.size < leastSuspect {
		return text
	}
	if c.size >= likelySuspect {
		return c.endText(text)
	}
	return fmt.Sprintf("%s, with a request of %d bytes in flight", text, c.size)
}

// endText adds the probable reason to the text of the end of a connection, if a request was in flight that is large
// enough to be it.
func (c *call) endText(text string) string {
	if c == nil || c.size < likelySuspect {
		return text
	}
	key, _ := suspectOf(c)
	return fmt.Sprintf("%s (probably because the request to %s %s has %d bytes: "+
		"a server closes the connection at more than its jute.maxbuffer)", text, key.verb, key.path, c.size)
}

// largestInFlight returns the largest request that is pending, nil if there is none. s.mu is held.
func (s *session) largestInFlight() (largest *call) {
	for _, c := range s.pending {
		if largest == nil || c.size > largest.size {
			largest = c
		}
	}
	return largest
}
