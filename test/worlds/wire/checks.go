package wire

import (
	"errors"
	"time"

	"github.com/incumbent-go/incumbent"
)

// believer is a client, or a neighbour, that believes that it leads, or that it holds the lock.
type believer struct {
	name  string
	what  string
	token int64
}

// believers returns those who believe now, by the answers that the library gives to its users.
func (w *world) believers() (leaders, holders []believer) {
	for _, c := range w.clients {
		c.mu.Lock()
		term, lead, hold := c.term, c.lead, c.hold
		c.mu.Unlock()
		switch {
		case lead != nil && lead.Check() == nil:
			leaders = append(leaders, believer{c.name, "leads", lead.Token()})
		case term != nil && c.latch.HasLeadership():
			leaders = append(leaders, believer{c.name, "leads", term.Token})
		}
		if hold != nil && hold.Check() == nil {
			holders = append(holders, believer{c.name, "has the lock", hold.Token()})
		}
	}
	for _, b := range w.neighbours {
		if held, holds := b.holder(); holds {
			holders = append(holders, held)
		}
	}
	return leaders, holders
}

// look checks all beliefs: after each frame that arrives, and when a node is deleted.
func (w *world) look() {
	leaders, holders := w.believers()
	w.alone(leaders)
	w.alone(holders)
	for item := range jobItems {
		w.alone(w.workers(item))
	}
	w.alone(w.elected())
	for shard := range shardCount {
		w.alone(w.sharers(shard))
	}
}

// elected returns those who believe that they lead by the node of the election.
func (w *world) elected() (leaders []believer) {
	for _, c := range w.clients {
		c.mu.Lock()
		lead := c.byNode
		c.mu.Unlock()
		if lead != nil && lead.Check() == nil {
			leaders = append(leaders, believer{c.name, "leads by the node", lead.Token()})
		}
	}
	return leaders
}

// alone checks that at most one believes, and only while its own node exists. Nobody is to blame whose node an operator
// deleted: it cannot know yet.
func (w *world) alone(all []believer) {
	var sure []believer
	for _, b := range all {
		node, known := w.truth.lifeOf(b.token)
		switch {
		case !known:
			w.fail("belief within the life of the own node", "%s %s with token %d, which is no node's", b.name,
				b.what, b.token)
		case node.byOthers:
			continue
		case !node.deleted.IsZero():
			w.fail("belief within the life of the own node", "%s %s with token %d, whose node was deleted %s ago",
				b.name, b.what, b.token, time.Since(node.deleted))
		}
		sure = append(sure, b)
	}
	if len(sure) > 1 {
		w.fail("one believer", "%s and %s both: %s", sure[0].name, sure[1].name, sure[0].what)
	}
}

// nodeGone is called inside the server when a node was deleted.
func (w *world) nodeGone(l *life) {
	if l.owner != 0 {
		w.look()
	}
	if l.ended && !l.byOthers && !w.seen.closed(l.owner) {
		w.promisedAlone(l)
		w.sharedAlone(l)
	}
}

// promisedAlone checks AloneUntil when the ensemble has ended a session, and with it a node by which somebody led or
// held the lock, whether or not the term has ended since: nobody else can have led before.
func (w *world) promisedAlone(l *life) {
	for _, c := range w.clients {
		c.mu.Lock()
		lead, hold := c.lead, c.hold
		c.mu.Unlock()
		if hold != nil && hold.Token() == l.czxid {
			lead = hold.Leadership
		}
		if lead == nil || lead.Token() != l.czxid {
			continue
		}
		if left := time.Until(lead.AloneUntil()); left > 0 {
			w.fail("AloneUntil", "%s was promised to be alone for %s more, and %s is gone with its session",
				c.name, left, l.path)
		}
	}
}

// began checks the beginning of a term: tokens grow.
func (w *world) began(c *client, t incumbent.Term) {
	node, _ := w.truth.lifeOf(t.Token)
	w.mu.Lock()
	last := w.lastToken
	w.lastToken = max(last, t.Token)
	w.mu.Unlock()
	if t.Token < last && !node.byOthers {
		w.fail("tokens grow", "%s leads with token %d after %d", c.name, t.Token, last)
	}
}

// once checks a write whose path no other call has: it was sent once at most, it was carried out if it was answered so,
// and not if it was refused. Only if the outcome is unknown both may be.
func (w *world) once(c *client, path string, err error) {
	sent := len(w.seen.sentIn(path))
	done := w.truth.creations(path)
	switch {
	case sent > 1:
		w.fail("a write is sent at most once", "%s sent %s %d times", c.name, path, sent)
	case err == nil && done != 1:
		w.fail("an answered write was carried out", "%s created %s, by the reply; it was created %d times",
			c.name, path, done)
	case err != nil && !errors.Is(err, incumbent.ErrOutcomeUnknown) && done != 0:
		w.fail("a refused write was not carried out", "%s got %q for %s, which was created", c.name, err, path)
	}
}

// put checks an item of the queue, by what is known when the call returns.
func (w *world) put(c *client, item string, err error) {
	switch done := w.truth.puts(item); {
	case done > 1:
		w.fail("an item is put once", "%s put %s %d times", c.name, item, done)
	case err == nil && done == 0:
		w.fail("an item is put once", "%s put %s, by the reply, and it is not there", c.name, item)
	}
}
