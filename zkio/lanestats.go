package zkio

// LaneNames are the names of the lanes, in the order in which they are sent.
var LaneNames = [3]string{"urgent", "delete", "normal"}

// Lane is how many requests of one lane wait to be sent, and how many of those that were
// sent have no answer yet.
type Lane struct{ Waiting, Pending int }

// Lanes returns the lanes of the present session, in the order of LaneNames. It is safe for
// concurrent use.
func (a *Adapter) Lanes() (all [3]Lane) {
	a.mu.Lock()
	s := a.live
	a.mu.Unlock()
	if s == nil {
		return all
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range all {
		all[i] = Lane{s.lanes.waiting[i].len(), s.lanes.inFlight[i]}
	}
	return all
}
