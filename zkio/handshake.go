package zkio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// refusal is a handshake that failed, with the code to report.
type refusal struct {
	code events.Code
	text string
}

func (r refusal) Error() string { return r.text }

// withColon returns the text with a colon before it, if there is any.
func withColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// connectResponse is the server's answer to a connect request.
type connectResponse struct {
	raw       []byte // as read, with its length
	timeout   time.Duration
	sessionID int64
	readOnly  bool
}

// handshake does everything that comes before the first request: it reads the answer to the connect request, logs in,
// authenticates, and arms the session's watches again. Only after that is connection.attached posted, and the keeper
// gets the server's answer, so that nothing can be sent earlier. One deadline, set when the dial began, covers it all;
// the first answer has to come earlier: see limitGreeting.
func (w *wire) handshake() error {
	g, err := w.readGreeting()
	if err != nil {
		return err
	}
	w.s.a.hosts.answered(w.target, w.address)
	if err := w.accept(g); err != nil {
		return err
	}
	if err := w.Conn.SetDeadline(w.deadline); err != nil {
		return err
	}
	if err := w.logIn(); err != nil {
		return err
	}
	for _, auth := range w.s.a.cfg.Auth {
		if err := w.authenticate(auth); err != nil {
			return err
		}
	}
	if w.probe {
		return w.endProbe()
	}
	var early []answer
	for _, batch := range w.s.armed() {
		fired, err := w.setWatches(batch)
		if err != nil {
			return err
		}
		early = append(early, fired...)
	}
	if err := w.Conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	paced := w.s.paced(w, g)
	w.contacts.setSpacing(paced)
	w.handshaken, w.out, w.patience = true, g.withTimeout(paced), paced*2/3
	return w.s.attach(w, g, paced, early)
}

// paced returns the timeout by which pings are sent, and answers are missed: the shortest that the session was ever
// granted. The ensemble's leader may end it by any of them.
func (s *session) paced(w *wire, g connectResponse) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.offeredID == 0 {
		return g.timeout
	}
	return min(s.timeout, g.timeout)
}

// withTimeout returns the response as the keeper gets it, which paces its pings by the timeout in it.
func (g connectResponse) withTimeout(timeout time.Duration) []byte {
	raw := slices.Clone(g.raw)
	binary.BigEndian.PutUint32(raw[jute.LengthSize+4:], uint32(timeout.Milliseconds()))
	return raw
}

func (w *wire) readGreeting() (connectResponse, error) {
	const shortest, longest = 4 + 4 + 8 + 4, 1024
	raw := make([]byte, jute.LengthSize, longest)
	if _, err := io.ReadFull(w.in, raw); err != nil {
		var remote *net.OpError
		if errors.As(err, &remote) && remote.Op == "remote error" { // an alert: by TLS 1.3 it comes this late
			return connectResponse{}, w.s.a.own.explain(fmt.Errorf("TLS: the server refused the connection: %w", err))
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			w.s.noteRejection(w)
			return connectResponse{}, w.s.a.own.explain(notServing("closed the connection in the handshake: " +
				"it is read-only or not serving, or lags behind what this session has seen, " +
				"or there are too many connections from this host (maxClientCnxns), " + w.maybeTLS()))
		}
		return connectResponse{}, err
	}
	size := binary.BigEndian.Uint32(raw)
	if size < shortest || size > longest-jute.LengthSize {
		return connectResponse{}, errProtocol
	}
	raw = raw[:jute.LengthSize+size]
	if _, err := io.ReadFull(w.in, raw[jute.LengthSize:]); err != nil {
		return connectResponse{}, err
	}
	b := jute.Decoder{Rest: raw[jute.LengthSize:]}
	if version := b.Int32(); version != 0 { // so does ClickHouse Keeper without a quorum
		w.s.noteRejection(w)
		return connectResponse{}, notServing(fmt.Sprintf("answered the handshake with protocol version %d: "+
			"it does not serve", version))
	}
	g := connectResponse{raw: raw, timeout: time.Duration(b.Int32()) * time.Millisecond, sessionID: b.Int64()}
	b.Bytes() // the session's password
	if w.unflagged = len(b.Rest) == 0; !w.unflagged {
		g.readOnly = b.Bool()
	}
	if b.Bad {
		return connectResponse{}, errProtocol
	}
	return g, nil
}

// maybeTLS returns one more possible reason why a server closed the connection.
func (w *wire) maybeTLS() string {
	if w.s.a.cfg.TLS != nil {
		return "or it does not accept this client's certificate"
	}
	return "or it expects TLS on this port"
}

// accept checks whether this is the session that was asked for.
func (w *wire) accept(g connectResponse) error {
	switch {
	case g.sessionID == 0 || g.timeout <= 0:
		return w.expired("the ensemble says that the session has expired")
	case w.offeredID != 0 && w.offeredID != g.sessionID:
		return w.expired(fmt.Sprintf("%s gave session 0x%x instead of 0x%x: the old one counts as expired",
			w.server, g.sessionID, w.offeredID))
	case g.readOnly:
		return notServing("it is read-only: it cannot hold a session")
	case g.timeout < leastTimeout:
		return refusal{events.TimeoutTooShort,
			fmt.Sprintf("the server granted a session timeout of %s, less than %s: that is no session. "+
				"minSessionTimeout and maxSessionTimeout are in milliseconds: set them on the servers",
				g.timeout, leastTimeout)}
	}
	return nil
}

// expired ends the session, unless the server that does not know it is doubted: see hosts.doubts.
func (w *wire) expired(text string) error {
	if w.offeredID != 0 && w.s.a.hosts.doubts(w.target, w.s.a.cfg.Now()) {
		return notServing("it does not know the session, before the end of its timeout. It is not believed, because " +
			"only the ensemble's configuration (FollowEnsemble) says that it is of this ensemble")
	}
	return w.s.expire(text)
}

// authenticate sends one credential and waits for the reply.
func (w *wire) authenticate(auth Auth) error {
	_, a, err := w.exchange(AuthFrame(auth), xidAuth)
	if err != nil {
		return err
	}
	if a.code != 0 {
		c, text := code(a.code)
		return refusal{c, "the ensemble refused the credentials of scheme " + auth.Scheme + withColon(text)}
	}
	return nil
}

// setWatches sends one batch of watches and returns the events of those that fired
// meanwhile.
func (w *wire) setWatches(batch setWatchesBatch) ([]answer, error) {
	w.armed += len(batch.data) + len(batch.exist) + len(batch.child)
	early, a, err := w.exchange(setWatchesFrame(w.since, batch), xidSetWatches)
	if err == nil && a.code != 0 {
		c, text := code(a.code)
		err = refusal{c, "the watches could not be armed again" + withColon(text)}
	}
	return early, err
}

// exchange sends a frame and reads up to its answer. Watch events before it are kept, in
// order. A server that sends many more than there are watches does not follow the protocol.
func (w *wire) exchange(request []byte, xid int32) (early []answer, a answer, err error) {
	w.s.awaitLoop()
	if _, err := w.Conn.Write(request); err != nil {
		return nil, answer{}, err
	}
	for {
		a, err := w.readAnswer()
		if err != nil {
			return nil, answer{}, err
		}
		switch a.xid {
		case xid:
			return early, a, nil
		case xidWatchEvent:
			if w.fired++; w.fired > 2*w.armed+16 {
				return nil, answer{}, errProtocol
			}
			a.body.Rest = append([]byte{}, a.body.Rest...) // the buffer is used again
			early = append(early, a)
		}
	}
}
