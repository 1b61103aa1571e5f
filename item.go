package incumbent

import (
	"time"
)

// Item is one item (shard) of a job that runs on this instance, for as long as its function runs. All its methods are
// safe to call from any goroutine.
type Item struct {
	Number    int       // from 0
	Parameter string    // of this item, from JobConfig.ItemParameters
	Config    JobConfig // as it was when the run began; do not change its map

	held *Leadership
}

// Check returns nil while the item may be believed to be this instance's, and otherwise a *LostError, which is
// ErrLeadershipLost. It compares the clock with the deadline itself, and sends nothing.
func (i *Item) Check() error {
	i.opened()
	return i.held.Check()
}

// ValidUntil returns the instant until which the item may be believed to be this instance's without another
// confirmation from the ensemble. It is in the past when it may not be.
func (i *Item) ValidUntil() time.Time {
	i.opened()
	return i.held.ValidUntil()
}

// Token returns the czxid of the instance's own node, which grows from session to session of one instance. It does not
// order instances: an item has no token of its own.
func (i *Item) Token() int64 {
	i.opened()
	return i.held.Token()
}

func (i *Item) opened() {
	if i == nil || i.held == nil {
		misuse("was called on an Item that Job.Run has not given out")
	}
}
