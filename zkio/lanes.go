package zkio

// lanes holds the calls that wait to leave. Each lane is first in, first out,
// and has a window of its own: so many of its calls are under way at a time. A
// lane goes past all that come after it here: the heartbeat waits for nobody, and
// ten thousand handles that close at once wait only for each other.
type lanes struct {
	window   int
	waiting  [3]queue
	inFlight [3]int
}

const (
	urgent  = iota // what asks for it: the heartbeat
	deletes        // of own nodes
	normal
)

func (l *lanes) push(c *call) { l.waiting[c.lane].push(c) }

// next takes out the call that may leave now, or nil. What nobody wants any more is
// dropped on the way.
func (l *lanes) next() *call {
	for lane := range l.waiting {
		for l.inFlight[lane] < l.window && l.waiting[lane].len() > 0 {
			if c := l.waiting[lane].pop(); !c.unwanted() {
				l.inFlight[lane]++
				return c
			}
		}
	}
	return nil
}

// answered says that a call taken out with next has been answered.
func (l *lanes) answered(c *call) { l.inFlight[c.lane]-- }

// withdraw takes a waiting call out for good and says whether it was waiting.
func (l *lanes) withdraw(c *call) bool { return l.waiting[c.lane].remove(c) }

// drain takes out everything that waits and is wanted, in the order of the lanes.
func (l *lanes) drain() []*call {
	var all []*call
	for lane := range l.waiting {
		for l.waiting[lane].len() > 0 {
			if c := l.waiting[lane].pop(); !c.unwanted() {
				all = append(all, c)
			}
		}
	}
	return all
}

// queue is first in, first out. It gives its memory back when it is empty.
type queue struct {
	calls []*call
	head  int
}

func (q *queue) len() int     { return len(q.calls) - q.head }
func (q *queue) push(c *call) { q.calls = append(q.calls, c) }

func (q *queue) pop() *call {
	c := q.calls[q.head]
	q.calls[q.head] = nil
	q.head++
	if q.head == len(q.calls) {
		q.calls, q.head = nil, 0
	}
	return c
}

func (q *queue) remove(c *call) bool {
	for i := q.head; i < len(q.calls); i++ {
		if q.calls[i] == c {
			q.calls = append(q.calls[:i], q.calls[i+1:]...)
			return true
		}
	}
	return false
}
