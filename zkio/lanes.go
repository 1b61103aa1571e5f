package zkio

import "slices"

// lanes holds the calls that wait to be sent. Each lane is first in, first out, and has a
// window of its own: at most so many of its calls are pending. A lane goes before all that
// come after it here: the heartbeat waits for no other call, and ten thousand handles that
// close together wait only for each other.
type lanes struct {
	window   int
	waiting  [3]queue
	inFlight [3]int
}

const (
	urgent  = iota // the heartbeat, and requests with Call.Urgent
	deletes        // of own nodes
	normal
)

func (l *lanes) push(c *call) { l.waiting[c.lane].push(c) }

// ready reports whether there is a call that may be sent now.
func (l *lanes) ready() bool {
	for lane := range l.waiting {
		if l.inFlight[lane] < l.window && l.waiting[lane].len() > 0 {
			return true
		}
	}
	return false
}

// next removes and returns the call that may be sent now, or nil. It drops calls that are
// unwanted.
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

// answered notes that a call that next returned has been answered.
func (l *lanes) answered(c *call) { l.inFlight[c.lane]-- }

// withdraw removes a waiting call and reports whether it was waiting.
func (l *lanes) withdraw(c *call) bool { return l.waiting[c.lane].remove(c) }

// drain removes and returns all calls that wait and are wanted, in the order of the lanes.
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

// queue is first in, first out. It grows only while half of its calls wait. When it is empty, it
// keeps its memory only if that is little.
type queue struct {
	calls []*call
	head  int
}

func (q *queue) len() int { return len(q.calls) - q.head }

func (q *queue) push(c *call) {
	if len(q.calls) == cap(q.calls) && q.head > len(q.calls)/2 { // it grows only if it is half full
		waiting := copy(q.calls, q.calls[q.head:])
		clear(q.calls[waiting:])
		q.calls, q.head = q.calls[:waiting], 0
	}
	q.calls = append(q.calls, c)
}

func (q *queue) pop() *call {
	c := q.calls[q.head]
	q.calls[q.head] = nil
	q.head++
	if q.head == len(q.calls) {
		q.calls, q.head = q.calls[:0], 0
		if cap(q.calls) > smallQueue {
			q.calls = nil
		}
	}
	return c
}

// smallQueue is for how many calls an empty queue keeps room.
const smallQueue = 8

func (q *queue) remove(c *call) bool {
	for i := q.head; i < len(q.calls); i++ {
		if q.calls[i] == c {
			q.calls = slices.Delete(q.calls, i, i+1)
			return true
		}
	}
	return false
}
