package calls

import (
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// Predecessor is the place that a participant waits behind: as the machine's notice has it,
// and as the reply to the machine's read had it. Either may come first.
type Predecessor struct {
	Path    string // of the node
	ahead   int    // places ahead of the own one, this one included
	request uint64 // the number of the read

	read  uint64 // the read that the two below are of
	id    string // the node's data, shortened
	token int64
}

// Ahead takes the notice that others are ahead.
func (b *Predecessor) Ahead(n events.Notify) { b.Path, b.ahead, b.request = n.Behind, n.Ahead, n.Work }

// Read takes the predecessor's data, as the reply to this read had them.
func (b *Predecessor) Read(request uint64, data []byte, token int64) {
	if request >= b.read { // else a later read was answered
		b.read, b.id, b.token = request, events.Quote(string(data), events.MaxName), token
	}
}

// Words says who the predecessor is, in a read-write lock with its side.
func (b Predecessor) Words(sides bool) string {
	name := b.Path[strings.LastIndexByte(b.Path, '/')+1:]
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
