package why

import (
	"fmt"
	"time"
)

// wrongSummary returns what a summary says that was not so in the world, "" for nothing: who led when, for how long
// nobody did, and who leads at the end of the logs, or that nobody does.
func (s *spared) wrongSummary(line LineSummary) string {
	for _, l := range line.Terms {
		client, ours := s.of[l.term.Log]
		if !ours {
			continue
		}
		ahead := s.ahead(s.Clients()[client])
		from := l.term.ElectedAt - ahead
		var was *belief
		for _, b := range s.beliefs {
			if b.client == client && b.token == l.Token && b.from <= from && from <= b.till {
				was = b
			}
		}
		if was == nil {
			return fmt.Sprintf("%s did not lead from %v with token %d", l.Leader, l.From, l.Token)
		}
		assumes := l.If == oneEnsemble || l.If != "" && !s.whole(l.term.Log)
		if l.Until == nil || l.Without <= 0 || l.Unknown != "" || assumes {
			continue
		}
		until, wrong := l.ended-ahead, int64(l.Error+10*time.Millisecond)
		if who := s.ledFrom(until+wrong, until+int64(l.Without)-wrong); who != "" {
			return fmt.Sprintf("%s while nobody is said to have led for %v after %s", who, l.Without, l.Leader)
		}
	}
	if who := s.ledAlthoughSkipped(line); who != "" {
		return who
	}
	return s.wrongEnd(line)
}

// ledAlthoughSkipped returns who led on a node on which it is said to have been skipped, "" for nobody.
func (s *spared) ledAlthoughSkipped(line LineSummary) string {
	for _, one := range line.Skipped {
		client, ours := s.of[one.log]
		s.skips++
		for _, b := range s.beliefs {
			if ours && b.client == client && b.token == one.node.czxid {
				return fmt.Sprintf("client%d led with token %d: %s", client, b.token, one.Text)
			}
		}
	}
	return ""
}

// endSlack is by how much the end of the logs may be wrong by the clocks of several.
const endSlack = int64(3 * time.Second)

// wrongEnd returns what a summary says of the end of the logs that was not so, "" for nothing.
func (s *spared) wrongEnd(line LineSummary) string {
	end := s.end()
	switch {
	case line.Unknown != "" || line.open():
	case line.NobodySince != nil:
		if who := s.ledFrom(end-int64(line.AsOf.Sub(*line.NobodySince))+endSlack, end-endSlack); who != "" {
			return who + " at the end, where nobody is said to lead"
		}
	case line.Leader != "":
		last := line.Terms[len(line.Terms)-1]
		client, ours := s.of[last.term.Log]
		for _, b := range s.beliefs {
			if ours && b.from <= end-endSlack && b.till >= end && b.client != client {
				return fmt.Sprintf("client%d leads at the end, and not %s", b.client, line.Leader)
			}
		}
	}
	return ""
}

// ledFrom returns who led in a time of the world, "" for nobody.
func (s *spared) ledFrom(from, to int64) string {
	for _, led := range s.beliefs {
		if led.from < to && led.till > from {
			return fmt.Sprintf("client%d led with token %d", led.client, led.token)
		}
	}
	return ""
}
