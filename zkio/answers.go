package zkio

import "github.com/incumbent-go/incumbent/events"

// OpResult is what one operation of a multi came to.
type OpResult struct {
	Code events.Code
	Path string       // of a create: the node's real path
	Stat *events.Stat // of a set
}

// reply makes the event for an answer to this call, and the results of a multi.
// It reports false where the body is not what the protocol says.
func (c *call) reply(a answer) (e events.Event, results []OpResult, ok bool) {
	e = c.event(code(a.code))
	e.Zxid = a.zxid
	switch {
	case a.tooLarge:
		e.Code, e.Text = events.TooLarge, "the answer is above the limit for one message"
	case a.code == 0:
		results = c.read(&a.body, &e)
	}
	return e, results, !a.body.bad
}

func (c *call) readGet(b *body, e *events.Event) []OpResult {
	data := b.bytes()
	if c.data {
		e.Data = data
	}
	e.Stat = b.stat()
	return nil
}

func readChildren(b *body, e *events.Event) []OpResult {
	e.Children, e.Stat = b.strings(), b.stat()
	return nil
}

// readMulti reads the results up to the closing header. The code of the whole
// is that of the operation that failed: the others say "rolled back".
func (a *Adapter) readMulti(b *body, e *events.Event) []OpResult {
	const (
		opCreate  = 1
		opDelete  = 2
		opSetData = 5
		opCheck   = 13
		opError   = -1
	)
	var results []OpResult
	failed := int32(0)
	for !b.bad {
		op, done, _ := b.int32(), b.bool(), b.int32()
		if done || b.bad {
			break
		}
		var r OpResult
		switch op {
		case opCreate:
			r.Path = a.short(b.string())
		case opSetData:
			r.Stat = b.stat()
		case opDelete, opCheck:
		case opError:
			number := b.int32()
			r.Code, _ = code(number)
			if number != 0 && (failed == 0 || failed == runtimeInconsistency) {
				failed = number
			}
		default:
			b.bad = true
		}
		results = append(results, r)
	}
	if failed != 0 {
		e.Code, e.Text = code(failed)
	}
	return results
}
