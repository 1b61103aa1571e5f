package engine

import "github.com/incumbent-go/incumbent/events"

// Searcher is a model that searches for nodes of attempts that were given up. It gets node.kept for each transaction of
// another machine that was answered and may have created a node, and those that machines send to events.Searches.
type Searcher interface {
	Searches()
}

// noteSearch notes a machine that searches.
func (e *Engine) noteSearch(id events.ID, m *Machine) {
	if m.searches() {
		e.searches = append(e.searches, id)
	}
}

// tellCreated tells the machines that search of a transaction that may have created nodes, whether or not somebody
// awaits its answer.
func (e *Engine) tellCreated(q queued) {
	creates := q.Event.Kind == events.ReplyCreate || q.Event.Kind == events.ReplyMulti
	if len(e.searches) > 0 && creates && q.Event.Code == events.OK && q.To != events.SessionMachine {
		kept := events.Event{Kind: events.NodeKept, At: q.Event.At, Zxid: q.Event.Zxid}
		e.queue = append(e.queue, queued{events.Envelope{To: events.Searches, Event: kept}, e.seq, true})
	}
}
