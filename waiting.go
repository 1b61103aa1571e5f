package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// callError is the error of a call that did not succeed: what was called, on which path, why
// it had no result yet, and what ended it.
type callError struct {
	op, path string  // either may be empty
	reasons  []error // they stand in the text, in this order
	ended    error   // the Err of the context that ended the call; nil if none did. It is not in the text.
}

func (e *callError) Error() string {
	text := "incumbent: " + e.op
	if e.op != "" && e.path != "" {
		text += " "
	}
	path := fault.Path(e.path)
	parts := []string{text + path}
	for _, reason := range e.reasons {
		text := fault.WithoutPackage(reason)
		if path != "" {
			text = strings.TrimSuffix(strings.TrimPrefix(text, path+": "), ": "+path) // it is said already
		}
		parts = append(parts, text)
	}
	return events.Foreign(strings.Join(parts, ": "), fault.MaxText)
}

// Unwrap returns the reasons, for errors.Is and errors.As.
func (e *callError) Unwrap() []error {
	if e.ended == nil {
		return e.reasons
	}
	return append(slices.Clone(e.reasons), e.ended)
}

// named are the errors without a path of their own: explain adds it.
var named = []error{ErrClosed, ErrAlreadyStarted, ErrNotStarted, ErrNotLeading, ErrInside, ErrOutside, ErrNotConnected, ErrOutcomeUnknown}

// explain returns the error of a call with the operation, a method's name in words, and the
// path. If the context ended the call, why says what it was waiting for. What the ensemble
// refuses, and what is wrong with an argument, is returned as it is: that has its path.
func (c *Client) explain(ctx context.Context, op, path string, err error, why func() error) error {
	if err == nil {
		return nil
	}
	if _, explained := err.(*callError); explained {
		return asCallError(op, path, err)
	}
	e := &callError{op: op, path: path, reasons: []error{err}}
	cause, unknown := context.Cause(ctx), errors.Is(err, ErrOutcomeUnknown)
	with := func(reasons ...error) []error {
		return slices.DeleteFunc(reasons, func(r error) bool { return r == nil })
	}
	switch ended := cause != nil && errors.Is(err, cause); {
	case ended && !unknown:
		e.reasons, e.ended = with(why(), err), ctx.Err()
	case ended:
		e.reasons, e.ended = with(ErrOutcomeUnknown, why(), cause), ctx.Err()
	case cause != nil && unknown:
		e.reasons, e.ended = with(err, why(), cause), ctx.Err()
	case !unknown && errors.Is(err, ErrNotConnected):
		e.reasons[0] = cmp.Or(c.session.absence(), err)
	case !slices.ContainsFunc(named, func(known error) bool { return errors.Is(err, known) }):
		return err
	}
	return e
}

// explain does what Client.explain does, for a call of this handle.
func (h *handle) explain(ctx context.Context, op string, err error) error {
	return h.client.explain(ctx, op, h.path, err, h.obstacle)
}

// asCallError returns err as the error of this operation, with the path.
func asCallError(op, path string, err error) error {
	if e, explained := err.(*callError); explained {
		return &callError{op, path, e.reasons, e.ended}
	}
	return &callError{op: op, path: path, reasons: []error{err}}
}

// renamed returns the error of a call that this one made as the error of this operation;
// every other error as it is.
func renamed(op, path string, err error) error {
	if _, explained := err.(*callError); explained {
		return asCallError(op, path, err)
	}
	return err
}

// notBegun is why a call whose context had ended before has done nothing.
func notBegun() error { return errors.New("its context had ended before the call") }

// notAsked returns why a holder's call has not asked for its lock yet.
func notAsked(guard async.ContextMutex) func() error {
	return func() error {
		if guard.Held() {
			return errors.New("another call of the same holder has not returned")
		}
		return notBegun()
	}
}

// noReply is why a request that no machine sends has no result.
func (c *Client) noReply() error {
	return cmp.Or(c.session.absence(), errors.New("no reply has come"))
}

// obstacle returns what prevents the handle from going on at this moment: there is no
// connection, something failed, or it waits for others.
func (h *handle) obstacle() error {
	return cmp.Or(h.client.session.absence(), h.failure(), h.words.waitsFor())
}

// phaseInWords returns what the machine does at this moment.
func (h *handle) phaseInWords() error {
	recipe, _, _ := strings.Cut(string(h.id), "-")
	phase := *h.phase.Load()
	return errors.New(cmp.Or(phases[recipe+" "+phase], phases[phase], "the handle is "+phase))
}

// phases has what a machine does in a state, by the state's name, and by the recipe's and the
// state's where a recipe means something else.
var phases = map[string]string{
	"latent": "nothing was sent yet", "closed": "the handle is closed", "idle": "it is out of the line",
	"suspended": "the connection was lost a moment ago", "pausing": "pausing after a failure",
	"enrolling": "its node is being created", "listing": "the line is being listed", "waiting": "waiting for others",
	"blocked": "waiting behind a persistent node", "verifying": "its node is being checked",
	"confirming": "waiting for the ensemble's confirmation", "leading": "it leads",
	"draining": "the work of the last term has not returned", "leaving": "its node is being deleted",
	"probing": "it is being read whether others are in the line", "downgrading": "the reader's node is being created",
	"queueing": "waiting in the line of the latch", "full": "too few permits are free",
	"looking": "the node is being read", "reading": "the node is being read",
	"creating": "the node is being created", "setting": "the node is being created",
	"writing": "the node is being written", "removing": "the node is being deleted",
	"watching": "waiting for a change", "absent": "the node does not exist", "vacant": "the line is empty",

	"barrier shut": "the barrier's node exists", "gate shut": "the gate's node does not exist",
	"doublebarrier outside": "it is outside the barrier", "doublebarrier entering": "its node is being created",
	"doublebarrier counting": "the members are being counted", "doublebarrier waiting": "too few members are there",
	"doublebarrier opening": "the ready node is being created", "doublebarrier inside": "it is inside the barrier",
	"doublebarrier parting": "the members are being listed", "doublebarrier emptying": "other members are still inside",
	"doublebarrier withdrawing": "its node is being deleted",
	"jobelection standby":       "another instance leads", "jobelection looking": "the marker is being read",
	"jobelection checking": "the marker is being read", "jobelection marking": "the marker is being written",
	"jobelection leaving": "the marker is being deleted",
	"jobworker idle":      "it waits for a trigger", "jobworker reading": "the job's nodes are being read",
	"jobworker writing": "the job's nodes are being written", "jobworker working": "items run",
	"jobworker waiting":   "it waits for the leader to deal, or for a configuration",
	"jobworker draining":  "items have not returned",
	"jobdealer following": "nothing is to be dealt by this instance", "jobdealer flagging": "items have to be dealt",
	"jobdealer gathering": "items have to be dealt", "jobdealer dealing": "items are being dealt",
	"jobdealer dealt":    "each item has its owner",
	"persistent present": "the node exists", "persistent occupied": "another session's node is at the path",
	"persistent clearing": "the node of an older session is being deleted", "persistent leaving": "the node is being deleted",
	"producer idle": "nothing is pending", "producer marking": "the producer's own node is being created",
	"producer measuring": "the items are being counted", "producer full": "the queue is full",
	"producer putting": "the ensemble has not confirmed the put", "producer verifying": "the outcome of the put is being read",
	"consumer listing": "the queue is being listed", "consumer waiting": "the queue is empty", "consumer reading": "an item is being read",
	"consumer working": "the handler has not returned", "consumer settling": "the outcome of an item is being written",
	"consumer verifying": "an item's lock is being read", "consumer taking": "an item is being deleted",
	"request asking": "no reply has come", "request preparing": "missing parents are being created",
	"request tracing": "the node is being looked for by its GUID", "request discarding": "the node is being deleted",
	"semaphore taking": "the permits are being created", "semaphore leaving": "its permits are being deleted",
	"treecache arming": "the tree is being read", "treecache reading": "the tree is being read", "treecache overfull": "the tree has too many nodes",
	"membership listing": "the members are being listed",
}

// handleWords has what a kind of handle says of itself. A handle has one value of it, and no
// function for each: a process may have very many handles.
type handleWords interface {
	// logTrouble logs a failure.
	logTrouble(error)
	// remains names what a close leaves behind if it gives up waiting.
	remains() string
	// overdue returns what has not returned long after it had to; nil if nothing has to.
	overdue() error
	// waitsFor returns what the machine waits for, if it is connected and nothing failed.
	waitsFor() error
}

// plainWords are those of a handle that is no participant in a line.
type plainWords struct{ h *handle }

func (w plainWords) logTrouble(err error) { w.h.logFailure(err) }
func (w plainWords) remains() string      { return "its node" }
func (w plainWords) overdue() error       { return nil }
func (w plainWords) waitsFor() error      { return w.h.phaseInWords() }

// lineWords are those of a participant in a line.
type lineWords struct{ p *participant }

func (w lineWords) logTrouble(err error) { w.p.logLineTrouble(err) }
func (w lineWords) remains() string      { return w.p.leftover() }
func (w lineWords) overdue() error       { return w.p.overdueWork() }
func (w lineWords) waitsFor() error      { return w.p.placeInWords() }

// jobWords are those of a Job's election. What is wrong with the job's configuration its instance logs.
type jobWords struct{ p *participant }

func (w jobWords) logTrouble(err error) {
	if !errors.Is(err, ErrJobConfig) {
		w.p.logLineTrouble(err)
	}
}

func (w jobWords) remains() string { return w.p.leftover() }
func (w jobWords) overdue() error  { return w.p.overdueWork() }
func (w jobWords) waitsFor() error { return w.p.placeInWords() }

// barrierWords are those of a double barrier for so many members.
type barrierWords struct {
	h        *handle
	quantity int
}

func (w barrierWords) logTrouble(err error) { w.h.logFailure(err) }
func (w barrierWords) remains() string      { return "its node" }
func (w barrierWords) overdue() error       { return nil }

func (w barrierWords) waitsFor() error {
	if *w.h.phase.Load() == "waiting" {
		return fmt.Errorf("fewer than %d members are there", w.quantity)
	}
	return w.h.phaseInWords()
}

// remainWords are those of a handle whose close leaves something else behind than a node of its own.
type remainWords struct {
	h    *handle
	what string
}

func (w remainWords) logTrouble(err error) { w.h.logFailure(err) }
func (w remainWords) remains() string      { return w.what }
func (w remainWords) overdue() error       { return nil }
func (w remainWords) waitsFor() error      { return w.h.phaseInWords() }

// predecessor is the place that a participant waits behind: as the machine's notice has it,
// and as the reply to the machine's read had it. Either may come first.
type predecessor struct {
	path    string // of the node
	ahead   int    // places ahead of the own one, this one included
	request uint64 // the number of the read

	read  uint64 // the read that the two below are of
	id    string // the node's data, shortened
	token int64
}

// noteAhead takes the notice that others are ahead; on the loop's goroutine.
func (p *participant) noteAhead(n events.Notify) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before.path, p.before.ahead, p.before.request = n.Behind, n.Ahead, n.Work
}

// keep takes the predecessor's data. zkio calls it.
func (p *participant) keep(request uint64, kept zkio.Kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept.Stat == nil || request < p.before.read {
		return // it could not be read, or a later read was answered
	}
	p.before.read, p.before.id, p.before.token = request, events.Quote(string(kept.Data), events.MaxName),
		kept.Stat.Czxid
}

// words says who the predecessor is, in a read-write lock with its side.
func (b predecessor) words(sides bool) string {
	name := b.path[strings.LastIndexByte(b.path, '/')+1:]
	who, token := "the node "+fault.Quoted(name), ""
	side := ""
	if sides {
		side = "a writer, "
		if _, reads := machines.ParsePlace(name, machines.ReadLabel, machines.KazooReadLabel); reads {
			side = "a reader, "
		}
	}
	if b.read == b.request {
		token = fmt.Sprintf(" (token %d)", b.token)
		if b.id != `""` {
			who = b.id
		}
	}
	text := "waiting behind " + side + who + token
	if b.ahead > 1 {
		text += fmt.Sprintf(" and %d more", b.ahead-1)
	}
	return text
}

// placeInWords returns what a participant waits for.
func (p *participant) placeInWords() error {
	if left := p.unreleased(); left != nil {
		return left
	}
	p.mu.Lock()
	before := p.before
	p.mu.Unlock()
	if *p.phase.Load() != "waiting" || before.path == "" {
		return p.phaseInWords()
	}
	return errors.New(before.words(p.sides))
}

// recipe returns the name of the handle's recipe.
func (h *handle) recipe() string { return recipeOf(h.id) }

// observeTrouble reports the failure of a handle that was just noted.
func (h *handle) observeTrouble() {
	h.mu.Lock()
	if h.failedAt == 0 {
		h.failedAt = h.client.clock.Now()
	}
	err := h.trouble
	h.mu.Unlock()
	h.client.observed.emit(Trouble{h.path, h.recipe(), err})
}

// observeRecovery reports the end of a handle's failures.
func (h *handle) observeRecovery() {
	h.mu.Lock()
	since := h.failedAt
	h.failedAt = 0
	h.mu.Unlock()
	if since != 0 {
		h.client.observed.emit(Recovered{h.path, h.recipe(), time.Duration(h.client.clock.Now() - since)})
	}
}
