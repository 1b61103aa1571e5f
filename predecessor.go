package incumbent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

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
	p.before.read, p.before.id, p.before.token = request, events.Quote(string(kept.Data), events.MaxName), kept.Stat.Czxid
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

// permitsInWords returns what an acquisition of a semaphore's permits waits for.
func (h *holdHandle) permitsInWords() error {
	if left := h.unreleased(); left != nil {
		return left
	}
	switch *h.phase.Load() {
	case "queueing", "looking", "full":
		return fmt.Errorf("waiting for %d of %d permits", h.permits, h.total)
	}
	return h.phaseInWords()
}
