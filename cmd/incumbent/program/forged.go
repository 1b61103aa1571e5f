package program

import (
	"fmt"

	"github.com/incumbent-go/incumbent"
)

// forgedOrder is two places whose order ZooKeeper cannot have made, for --json.
type forgedOrder struct {
	Ahead  participant `json:"ahead"` // was created after the other, and has the lower number
	Behind participant `json:"behind"`
}

func forgedObject(line incumbent.Line) *forgedOrder {
	ahead, behind, forged := line.Forged()
	if !forged {
		return nil
	}
	return &forgedOrder{participantObject(position(line, ahead), ahead),
		participantObject(position(line, behind), behind)}
}

// forgedText names an order in a line that ZooKeeper cannot have made, "" if there is none.
func forgedText(line incumbent.Line) string {
	ahead, behind, forged := line.Forged()
	if !forged {
		return ""
	}
	return fmt.Sprintf("forged: %s's node %s (token %s) is ahead of %s's node %s (token %s), and was created after "+
		"it: ZooKeeper gives no such number; find out who made which, and delete the wrong one",
		name(ahead), nodeName(ahead), token(ahead), name(behind), nodeName(behind), token(behind))
}
