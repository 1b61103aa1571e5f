package calls

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/incumbent-go/incumbent/events"
)

// Client is what the commands of a client's handles share.
type Client struct {
	Post    func(events.ID, events.Event) bool // to the loop; false: the loop has ended
	Closed  <-chan struct{}                    // closed when the client is
	Ended   error                              // of a call to a machine, or a client, that has ended
	replies replyChannels
}

// Commands numbers a handle's commands to its machine, and passes the answers to the
// callers.
type Commands struct {
	mu      sync.Mutex
	last    uint64
	open    []openCommand // in order of their numbers; few handles have more than one
	refused *refusal      // why there is no machine; nil: there is one, or was
	over    bool          // the machine has ended
	ended   chan struct{} // closed when the machine has ended; nil while nobody asked for it

	Broken func(at, format string, args ...any) // reports a broken invariant; nil: they are not checked
	gaveUp map[uint64]bool                      // the commands that nobody waits for; kept for the check only
}

// refusal is why there is no machine.
type refusal struct{ err error }

// openCommand is a command that is not answered yet.
type openCommand struct {
	number uint64
	reply  chan Reply
}

// answered is added to the number of a command whose answer has come, while its caller waits for the machine's end.
const answered = 1 << 63

// Granted is what a machine grants: a Leadership.
type Granted interface{ Release() }

// Reply is a machine's answer, or the function that makes what is granted with the caller's context.
type Reply struct {
	Err   error
	Grant func(context.Context) Granted

	none error // why there is no answer; nil: there is one
}

// replyChannels are channels for replies that no command uses. Only a channel whose one
// reply was received may be put back.
type replyChannels struct {
	mu    sync.Mutex
	spare []chan Reply
}

// mostSpare is how many channels are kept.
const mostSpare = 16

func (r *replyChannels) get() chan Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.spare) - 1
	if last < 0 {
		return make(chan Reply, 1)
	}
	ch := r.spare[last]
	r.spare = r.spare[:last]
	return ch
}

// PutBack keeps the channel of a reply that was received for another command.
func (c *Client) PutBack(ch chan Reply) { c.replies.put(ch) }

func (r *replyChannels) put(ch chan Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spare) < mostSpare {
		r.spare = append(r.spare, ch)
	}
}

// Begin posts a command and returns its number and the channel of its reply. It posts
// nothing to a closed machine: a program that asks it in a loop would fill the log.
func (c *Commands) Begin(client *Client, id events.ID, ev events.Event) (uint64, chan Reply, error) {
	if c.isOver() {
		return 0, nil, c.why(client)
	}
	var ch chan Reply
	ev.Request, ch = c.Reserve(client)
	if !client.Post(id, ev) {
		c.Drop(ev.Request)
		return 0, nil, client.Ended
	}
	return ev.Request, ch, nil
}

// Reserve returns a new command's number and the channel of its reply.
func (c *Commands) Reserve(from *Client) (uint64, chan Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	ch := from.replies.get()
	c.open = append(c.open, openCommand{c.last, ch})
	if c.over {
		ch <- Reply{none: c.end(from)}
	}
	return c.last, ch
}

// take removes an open command and returns the channel of its reply. c.mu is held.
func (c *Commands) take(n uint64) (ch chan Reply, open bool) {
	i, open := c.find(n)
	if !open {
		return nil, false
	}
	ch = c.open[i].reply
	if c.open = slices.Delete(c.open, i, i+1); len(c.open) == 0 && cap(c.open) > 1 {
		c.open = nil
	}
	return ch, true
}

// find returns the place of an open command, or the one where it would be. c.mu is held.
func (c *Commands) find(n uint64) (at int, open bool) {
	return slices.BinarySearchFunc(c.open, n, func(o openCommand, n uint64) int { return cmp.Compare(o.number, n) })
}

// Ask posts a command and waits for its answer, or for the end of the context.
func (c *Commands) Ask(ctx context.Context, client *Client, id events.ID, ev events.Event) (uint64, error) {
	n, ch, err := c.Begin(client, id, ev)
	if err != nil {
		return 0, err
	}
	r, err := c.Wait(ctx, client, n, ch)
	if err != nil {
		c.Drop(n)
		return n, err
	}
	client.PutBack(ch)
	return n, r.Err
}

// Wait returns the reply, or why none will come or the wait ended.
func (c *Commands) Wait(ctx context.Context, client *Client, n uint64, ch chan Reply) (Reply, error) {
	select {
	case r := <-ch:
		return r, r.none
	case <-client.Closed:
	case <-ctx.Done():
		return Reply{}, context.Cause(ctx)
	}
	select {
	case r := <-ch: // the last answer comes just before the client closes
		return r, r.none
	default:
		return Reply{}, c.why(client)
	}
}

// WaitEnd waits for the answer to the command that closes the machine. If that has succeeded, it waits for the end of
// the machine, too.
func (c *Commands) WaitEnd(ctx context.Context, client *Client, n uint64, ch chan Reply) error {
	r, err := c.Wait(ctx, client, n, ch)
	if err == nil && r.Err == nil && c.awaitEnd(n, ch) {
		n |= answered
		_, err = c.Wait(ctx, client, n, ch)
	}
	if err != nil {
		c.Drop(n)
		if n >= answered {
			return nil
		}
		return err
	}
	client.PutBack(ch)
	return r.Err
}

// awaitEnd has the channel of an answered command get one more reply, at the end of the machine. It returns false if
// that has come.
func (c *Commands) awaitEnd(n uint64, ch chan Reply) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		at, _ := c.find(n | answered) // behind those without an answer
		c.open = slices.Insert(c.open, at, openCommand{n | answered, ch})
	}
	return !c.over
}

// End ends the commands of a machine that has ended: those that are open get no answer any more.
func (c *Commands) End(client *Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if c.over = true; c.ended != nil {
		close(c.ended)
	}
	for _, o := range c.open {
		o.reply <- Reply{none: c.end(client)}
	}
}

// Ended returns a channel that is closed when the machine has ended.
func (c *Commands) Ended() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		if c.ended = make(chan struct{}); c.over {
			close(c.ended)
		}
	}
	return c.ended
}

// GiveUp ends the wait for the answer to a command, or for the end of the machine after it.
func (c *Commands) GiveUp(n uint64, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	for _, n := range []uint64{n, n | answered} {
		if ch, open := c.take(n); open {
			if ch <- (Reply{none: why}); c.Broken != nil {
				c.noteGaveUp(n)
			}
		}
	}
}

// Refuse ends the commands of a machine that refused to open: those that are open, and every later one, get err. End
// follows it.
func (c *Commands) Refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = &refusal{err}
	for _, o := range c.open {
		o.reply <- Reply{Err: err}
	}
	c.open = nil
}

func (c *Commands) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// why returns why a command gets no answer: its machine, or the client, has ended.
func (c *Commands) why(client *Client) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end(client)
}

// end is why while c.mu is held.
func (c *Commands) end(client *Client) error {
	if c.refused != nil {
		return c.refused.err
	}
	return client.Ended
}

// Drop removes a pending command; it returns false if the reply is there already.
func (c *Commands) Drop(n uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.take(n)
	if open && c.Broken != nil {
		c.noteGaveUp(n)
	}
	return open
}

// Deliver passes a reply to the waiting call; it returns false if no call waits for it any
// longer.
func (c *Commands) Deliver(n uint64, r Reply) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	ch, open := c.take(n)
	if open {
		ch <- r
	} else if c.Broken != nil {
		c.checkAnswer(n)
	}
	return open
}

// noteGaveUp notes that the caller of a command does not wait for its answer.
func (c *Commands) noteGaveUp(n uint64) {
	if c.gaveUp == nil {
		c.gaveUp = map[uint64]bool{}
	}
	c.gaveUp[n] = true
}

// checkAnswer checks an answer for which no caller waits: it is the only one.
func (c *Commands) checkAnswer(n uint64) {
	if n != 0 && !c.gaveUp[n] { // 0: nobody waits for any
		c.Broken("an answer", "command %d of %d was not sent, or is answered twice", n, c.last)
	}
	delete(c.gaveUp, n)
}
