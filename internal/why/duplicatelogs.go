package why

// Left is a log that LeaveOutDuplicates left out.
type Left struct{ Out, For *Log }

// Unexplained reports whether the log that was left out has records before or behind all of the other one, as dumps of
// one client at different times have.
func (l Left) Unexplained() bool {
	out, kept := &l.Out.recs, &l.For.recs
	return out.len() > 0 && kept.len() > 0 && (out.at(0).seq < kept.at(0).seq || l.Out.lastSeq > l.For.lastSeq)
}

// LeaveOutDuplicates returns the logs of different clients: of two logs of one client, as a log and its copy or a dump
// of the same run, it keeps the one with more records. Otherwise a client would be two that lead at once.
func LeaveOutDuplicates(logs []*Log) (kept []*Log, left []Left) {
	for _, l := range logs {
		same := -1
		for i, other := range kept {
			if l.sameClient(other) {
				same = i
			}
		}
		switch {
		case same < 0:
			kept = append(kept, l)
		case l.Records > kept[same].Records:
			left = append(left, Left{kept[same], l})
			kept[same] = l
		default:
			left = append(left, Left{l, kept[same]})
		}
	}
	return kept, left
}

// sameClient reports whether two logs are of one client: by the run, or, in logs of older versions, by a session.
func (l *Log) sameClient(o *Log) bool {
	if l.Header.Run != "" && o.Header.Run != "" {
		return l.Header.Run == o.Header.Run
	}
	for _, s := range l.sessions {
		for _, other := range o.sessions {
			if s.id == other.id && s.id != 0 {
				return true
			}
		}
	}
	return false
}
