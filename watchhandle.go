package incumbent

import (
	"context"
	"maps"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// watchHandle is the handle of one machine that watches.
type watchHandle struct {
	handle
	onNotice func(events.Notify)
	onClose  func()               // called when the machine is closed; may be nil
	kept     map[uint64]zkio.Kept // by request, under mu: data of replies without a notice yet
}

// keep takes data of a reply that are for the user. zkio calls it.
func (o *watchHandle) keep(request uint64, kept zkio.Kept) {
	if kept.Stat == nil {
		return // a reply without data
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		o.kept = map[uint64]zkio.Kept{}
	}
	o.kept[request] = kept
	if o.commands.broken != nil && len(o.kept) > maxKept {
		o.commands.broken("a reply", "%d replies are kept, of at most %d", len(o.kept), maxKept)
	}
}

// takeKept returns what the reply to this request held, and forgets what earlier replies held.
func (o *watchHandle) takeKept(request uint64) zkio.Kept {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.kept[request]
	maps.DeleteFunc(o.kept, func(n uint64, _ zkio.Kept) bool { return n <= request })
	return kept
}

func (o *watchHandle) notice(n events.Notify) { o.onNotice(n) }

// Close ends a watching machine with its client.
func (o *watchHandle) Close(ctx context.Context) error { return o.end(ctx, false) }

func (o *watchHandle) answer(a events.Answer) { o.deliver(a) }

func (o *watchHandle) entered(state string) {
	if state == "closed" && o.onClose != nil {
		o.onClose()
	}
	o.enter(state)
}
