package events

// Heartbeat reports whether a record is one of a heartbeat that changed nothing: its timer, its
// confirmation, and the deadline that moved.
func (r Record) Heartbeat() bool {
	if r.Machine != SessionMachine || r.From != r.To || r.Event.Code != OK {
		return false
	}
	for _, effect := range r.Effects {
		switch effect.(type) {
		case Notify, Tell, Answer:
			return false
		}
	}
	switch r.Event.Kind {
	case TimerFired:
		return r.Event.Name == "heartbeat"
	case ReplyMulti, ReplySync, ReplyStat, ConnectionConfirmed:
		return true
	}
	return false
}
