package zkio

import (
	"fmt"
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// feature is an operation that not every server knows.
type feature int

const (
	noFeature  feature = iota
	trees              // recursive watches, since ZooKeeper 3.6
	containers         // since 3.5.3
	ttls               // nodes with a TTL, since 3.5.3
	features
)

func (f feature) String() string {
	return [...]string{"", "recursive watches", "containers", "nodes with a TTL"}[f]
}

// featureOf returns which feature a request needs.
func featureOf(r events.Request) feature {
	switch r := r.(type) {
	case events.AddWatch:
		return trees
	case events.Create:
		switch r.Mode {
		case events.Container:
			return containers
		case events.PersistentTTL, events.PersistentSequentialTTL:
			return ttls
		}
	}
	return noFeature
}

// optional is what a client has learned of its servers: which features they lack. A server that lacks one refuses the
// request, by whatever code, and may close the connection after it; or closes it without an answer. Or it ignores it,
// and answers what came later. So after the first of these, or two connections that ended without an answer, none is
// asked for any more, by no machine and in no later session, and this side answers UNIMPLEMENTED. An ensemble that is
// being upgraded, or is set back, has servers of both kinds: that one server knows a feature says nothing of the next
// one.
//
// A server whose answer to the handshake has no flag for read-only servers is ClickHouse Keeper, or older than
// ZooKeeper 3.4: it is asked for none from the start. There, a connection that ends is the end of the session, too.
type optional struct {
	mu      sync.Mutex // held for no call of others
	learned [features]struct {
		off        string // why none is asked for; "": it may be
		works      bool   // the server of this connection has carried out such a request
		worked     bool   // some server has
		unanswered int    // connections in a row that ended while the first was pending, and answers that say nothing
	}
}

// maxUnanswered is how many connections may end so, and maxUnansweredLater how many once a server has carried such a
// request
// out: then it is more likely that the network is bad.
const (
	maxUnanswered      = 2
	maxUnansweredLater = 5
)

// connected notes that there is another connection, perhaps with a server of another release.
func (o *optional) connected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := range o.learned {
		o.learned[f].works = false
	}
}

// turnOffAll keeps every feature from being asked for.
func (o *optional) turnOffAll(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := trees; f < features; f++ {
		o.learned[f].off = why
	}
}

// refusal returns why a feature is not asked for, "" if it is.
func (o *optional) refusal(f feature) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.learned[f].off
}

// answered notes a server's answer to a request for a feature. It returns the code and the text of
// the reply: what the servers do not know is UNIMPLEMENTED, by whatever code they say so.
func (o *optional) answered(f feature, code events.Code, text string) (events.Code, string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := &o.learned[f]
	switch {
	case code == events.OK:
		known.works, known.worked, known.unanswered = true, true, 0
	case code == events.Unimplemented:
		known.off = "a server of the ensemble does not know " + f.String()
	case code.Unknown():
		o.unanswered(f)
	case !known.works && refusesFeature(code):
		known.off = fmt.Sprintf("a server of the ensemble refused %s with %s", f, code)
		return events.Unimplemented, known.off
	}
	return code, text
}

// refusesFeature reports whether a definite refusal may be one of the kind of request, and not of this
// node, this client or this moment.
func refusesFeature(code events.Code) bool {
	switch code {
	case events.NoNode, events.NoAuth, events.NodeExists, events.QuotaExceeded, events.TooLarge,
		events.NoChildrenOfEphemerals, events.AuthFailed, events.RequiresSASL, events.SessionExpired, events.NotSent:
		return false
	}
	return !code.Transient()
}

// ignored notes that a server has answered a later request than one for a feature, so it will never answer that.
func (o *optional) ignored(f feature) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.learned[f].works {
		o.learned[f].off = "a server of the ensemble does not answer requests for " + f.String()
	}
	return o.learned[f].off
}

// answerIgnored answers requests for features that were sent before the one that the server answers now. A server
// answers in order, so it has ignored them. s.mu is held.
func (s *session) answerIgnored(xid int32) {
	for w := s.wire; len(w.optional) > 0; w.optional = w.optional[1:] {
		earlier := w.optional[0]
		c := s.pending[earlier]
		if c == nil { // it was answered
			continue
		}
		if earlier > xid {
			return
		}
		if why := s.a.known.ignored(featureOf(c.request)); why != "" {
			delete(s.pending, earlier)
			s.answer(c, c.event(events.Unimplemented, why), Kept{})
		}
	}
}

// mayRefuse reports whether a connection may have ended because its server does not know a request. A server that was
// silent, or a pause of this process, ends one whatever was asked.
func mayRefuse(end events.ConnectionEnd) bool {
	switch end {
	case events.ConnectionEndClosed, events.ConnectionEndNetwork, events.ConnectionEndUnanswered:
		return true
	}
	return false
}

// lost notes that a connection ended while a request for a feature was pending.
func (o *optional) lost(f feature) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unanswered(f)
}

// unanswered notes that a request for a feature got no answer that says anything. o.mu is held.
func (o *optional) unanswered(f feature) {
	known := &o.learned[f]
	most := maxUnanswered
	if known.worked {
		most = maxUnansweredLater
	}
	if known.unanswered++; !known.works && known.unanswered >= most {
		known.off = "connections end, or nothing is said, when " + f.String() + " are asked for"
	}
}
