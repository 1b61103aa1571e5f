package program

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// printLog prints the records and notes for people, or as they are with --json.
func (a *app) printLog(l flightLog, o replayOptions) error {
	s, end, err := l.open()
	if err != nil {
		return err
	}
	defer end()
	h := s.Header()
	clock := newWallClock(h)
	if !a.JSON {
		a.Out.Line("%s, %s, begun %s%s", events.Foreign(h.Library, events.MaxText), events.Foreign(h.Go,
			events.MaxText), events.Foreign(h.Start, events.MaxText), oneLine(process(h)))
	}
	s.Notes = func(n events.Note) {
		clock.set(n.Clock)
		switch {
		case a.JSON:
			a.Out.Object(n)
		default:
			a.Out.Line("%s", noteLine(n, clock))
		}
	}
	for {
		rec, err := s.Next()
		var gap *events.Gap
		isGap := errors.As(err, &gap)
		switch {
		case errors.Is(err, io.EOF), o.until != 0 && (err == nil && rec.Seq > o.until || isGap && gap.From > o.until):
			return nil
		case isGap && a.JSON:
			a.Out.Object(map[string]*events.Gap{"gap": gap})
		case isGap:
			a.Out.Line("%s", gapText(gap))
		case err != nil:
			return err
		case o.noHeartbeats && rec.Heartbeat():
		case a.JSON:
			a.Out.Object(rec)
		default:
			a.Out.Line("%s", recordLine(rec, clock))
		}
	}
}

// process says which process wrote a log.
func process(h events.Header) string {
	text := fmt.Sprintf(", by process %d on %s, run %s", h.PID, h.Host, h.Run)
	if h.Dump != "" {
		text += ", the last records: " + h.Dump
	}
	return text
}

// wallClock returns times of day for instants of the loop's clock.
type wallClock struct {
	start, at int64
	wall      time.Time
	known     bool
}

// newWallClock returns the clock of a log. A log whose header has no time is printed without.
func newWallClock(h events.Header) *wallClock {
	wall, err := time.Parse(time.RFC3339Nano, h.Start)
	return &wallClock{start: h.StartAt, at: h.StartAt, wall: wall, known: err == nil}
}

func (c *wallClock) set(n *events.ClockNote) {
	if n == nil {
		return
	}
	if wall, err := time.Parse(time.RFC3339Nano, n.Wall); err == nil {
		c.at, c.wall = n.At, wall
	}
}

// of returns the time of day with a space behind it, "" if it is not known.
func (c *wallClock) of(at int64) string {
	if !c.known {
		return ""
	}
	return c.wall.Add(time.Duration(at-c.at)).UTC().Format("15:04:05.000000") + "  "
}

// noteLine is the line that is printed for a note.
func noteLine(n events.Note, c *wallClock) string {
	text := ""
	switch {
	case n.Clock != nil && n.Clock.Jumped != 0:
		text = fmt.Sprintf("the wall clock was set by %s: it is %s", time.Duration(n.Clock.Jumped), n.Clock.Wall)
	case n.Clock != nil:
		text = "the wall clock is " + n.Clock.Wall
	case n.Late != nil:
		text = fmt.Sprintf("%+11.6fs  the loop was %s late", time.Duration(n.Late.At-c.start).Seconds(),
			time.Duration(n.Late.By))
	case n.Write != nil:
		text = fmt.Sprintf("%+11.6fs  %s", time.Duration(n.Write.At-c.start).Seconds(), writeText(n.Write))
	case n.Checkpoint != nil && n.Checkpoint.Why != "":
		text = fmt.Sprintf("no checkpoint of record %d: %s", n.Checkpoint.Seq, n.Checkpoint.Why)
	case n.Checkpoint != nil && n.Checkpoint.Of > 1:
		text = fmt.Sprintf("checkpoint of record %d, part %d of %d, %d bytes", n.Checkpoint.Seq, n.Checkpoint.Part,
			n.Checkpoint.Of, len(n.Checkpoint.State))
	case n.Checkpoint != nil:
		text = fmt.Sprintf("checkpoint of record %d, %d bytes", n.Checkpoint.Seq, len(n.Checkpoint.State))
	case n.End != nil:
		text = fmt.Sprintf("end: %s, after record %d", n.End.Why, n.End.Records)
	}
	return oneLine("     . " + text)
}

// writeText is what is printed for a guarded write.
func writeText(w *events.Write) string {
	text := fmt.Sprintf("a guarded write with token %d of %s ", w.Token, events.Quote(w.Path, events.MaxText))
	switch {
	case w.Zxid != 0:
		return text + fmt.Sprintf("was committed, zxid %#x", w.Zxid)
	case w.Refused != "":
		return text + "was refused: " + string(w.Refused)
	}
	return text + "got no answer"
}

// gapText is the line that is printed in place of a gap's records.
func gapText(g *events.Gap) string {
	return fmt.Sprintf("%6d … %d: %s missing: %s", g.From, g.To, cli.Plural(g.Count, "record"), oneLine(g.Why))
}

// oneLine makes foreign text harmless, and keeps it on its line.
func oneLine(s string) string { return events.Foreign(s, maxPrinted) }

// maxPrinted is how many bytes a line has at most, and events.MaxText how many each effect in it. With --json nothing
// is cut.
const maxPrinted = 32 << 10

func recordLine(r events.Record, clock *wallClock) string {
	start := clock.start
	since := time.Duration(r.Event.At - start).Seconds()
	move := r.Row
	switch {
	case r.Row == events.RowLate || r.Row == events.RowIgnored || r.Row == events.RowUnknown:
		move = fmt.Sprintf("%s (%s: %s)", r.From, r.Event.Kind, r.Row)
	case r.From != "":
		move = fmt.Sprintf("%s --%s--> %s", r.From, r.Row, r.To)
	case r.To != "":
		move = fmt.Sprintf("%s: %s", r.Row, r.To)
	}
	line := fmt.Sprintf("%6d %+11.6fs  %s%-11s %s%s", r.Seq, since, clock.of(r.Event.At), r.Machine,
		strings.TrimSpace(move), factsOf(r))
	if len(r.Effects) > 0 {
		shown := make([]string, len(r.Effects))
		for i, effect := range r.Effects {
			shown[i] = events.Foreign(effectText(r.Machine, effect, start), events.MaxText)
		}
		line += "  | " + strings.Join(shown, "; ")
	}
	return oneLine(line)
}

// effectText returns an effect in words. A reading of the log's clock is the time since its start.
func effectText(machine events.ID, effect events.Effect, start int64) string {
	if n, is := effect.(events.Notify); is && isShardMember(machine) && n.Work > 0 {
		return shardText(n)
	}
	if d, is := effect.(events.Deadline); is && d.Until != 0 {
		return fmt.Sprintf("valid until %+.6fs", time.Duration(d.Until-start).Seconds())
	}
	return effect.String()
}

// isShardMember reports whether a machine is a member that owns shards.
func isShardMember(machine events.ID) bool {
	return strings.HasPrefix(string(machine), machines.ShardsRecipe.Name()+"-")
}

// shardText says which shard a member owns from now on, or does not any more.
func shardText(n events.Notify) string {
	switch {
	case n.What == events.Withdrawn && n.Paused > 0:
		return fmt.Sprintf("shard %d is not owned any more: %s (for %s)", n.Work-1, n.Reason, n.Paused)
	case n.What == events.Withdrawn:
		return fmt.Sprintf("shard %d is not owned any more: %s", n.Work-1, n.Reason)
	}
	return fmt.Sprintf("shard %d is owned, token=%d, by %s", n.Work-1, n.Token, n.Path)
}

// factsOf returns what an event says of a connection: which server it was, at which address,
// and why it ended; and on which shard work has returned.
func factsOf(r events.Record) string {
	ev := r.Event
	var facts []string
	if ev.Kind == events.WorkReturned && isShardMember(r.Machine) && ev.Work > 0 {
		facts = append(facts, fmt.Sprintf("shard %d", ev.Work-1))
	}
	for _, fact := range []string{ev.Server, ev.Address, string(ev.End)} {
		if fact != "" && !slices.Contains(facts, fact) {
			facts = append(facts, events.Foreign(fact, events.MaxText))
		}
	}
	if facts == nil {
		return ""
	}
	return " (" + strings.Join(facts, ", ") + ")"
}
