package program

import (
	"context"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

const (
	// lookInterval is how often watch looks at what no watch of a node tells: whether the line has changed behind its
	// first, and whether that has a connection. It is less than half of a usual session timeout, so that a first in
	// line that is silent is named before its session ends.
	lookInterval = 5 * time.Second
	// vacantAfter is after how long it is said that a line is still vacant.
	vacantAfter = 10 * time.Second
)

// lastChange is the last change of a line that was printed, and when.
type lastChange struct {
	change  incumbent.Change
	at      time.Time
	address string // where the first answers, as it says
}

// node returns the node at the head of the line, whether a session owns it or not.
func (l lastChange) node() incumbent.Participant {
	if l.change.Blocker.Path != "" {
		return l.change.Blocker
	}
	return l.change.First
}

// sameNode reports whether two nodes are one. An ensemble that has lost its data gives the same tokens again.
func sameNode(a, b incumbent.Participant) bool {
	return a.Token == b.Token && a.Owner == b.Owner && a.Path == b.Path
}

// look reads the line again and again. One with a forged number changes nothing for the first in line, whose node
// alone is watched.
func (t *changePrinter) look(ctx context.Context, looker *onlooker) {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.printLine(ctx, looker)
			t.printVacant(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// printLine reads the line, and prints what is wrong with it and was not printed: an order that ZooKeeper cannot have
// made, and bad signs of the first.
func (t *changePrinter) printLine(ctx context.Context, looker *onlooker) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	line, err := t.current(ctx, looker)
	if err != nil {
		return // the feed has the error, or the next change is compared
	}
	all := signsOf(line, looker.servers.ask(ctx))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.printForged(line)
	for _, p := range line.Participants {
		if p.First {
			t.printSigns(p, all[p.Path])
		}
	}
}

// current returns the line. It is read only if a node was created or deleted in it since the last time in this session:
// another session may be one of an ensemble that has lost its data.
func (t *changePrinter) current(ctx context.Context, looker *onlooker) (incumbent.Line, error) {
	t.mu.Lock()
	seen, session, line := t.seen, t.session, t.line
	t.mu.Unlock()
	now := looker.client.SessionID()
	stat, err := looker.client.Exists(looker.dir).Do(ctx)
	if err != nil || stat != nil && stat.Pzxid == seen && now == session {
		return line, err
	}
	if line, err = looker.read(ctx); err != nil {
		return line, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.line = line; stat != nil {
		t.seen, t.session = stat.Pzxid, now
	}
	return line, nil
}

// printForged prints an order that ZooKeeper cannot have made.
func (t *changePrinter) printForged(line incumbent.Line) {
	text := forgedText(line)
	if text == t.forged {
		return
	}
	t.forged = text
	switch {
	case text == "":
	case t.JSON:
		t.Out.Object(struct {
			At    time.Time `json:"at"`
			Event string    `json:"event"`
			*forgedOrder
		}{time.Now(), "forged", forgedObject(line)})
	default:
		t.Out.Line("%s  %s", time.Now().Format(cli.TimeLayout), t.Out.Red(text))
	}
}

// printSigns prints the signs of the first in line if they are others than before. That it is connected is usual at
// first, and not printed.
func (t *changePrinter) printSigns(p incumbent.Participant, s *signs) {
	if s == nil || t.trouble[p.Path] == s.Code || t.trouble[p.Path] == "" && s.Code == signConnected {
		return
	}
	clear(t.trouble) // of those that were first before
	t.trouble[p.Path] = s.Code
	if t.JSON {
		first := participantObject(1, p)
		first.Signs = s
		t.Out.Object(struct {
			At    time.Time   `json:"at"`
			Event string      `json:"event"`
			First participant `json:"first"`
		}{time.Now(), "signs", first})
		return
	}
	t.Out.Line("%s  %s: %s", time.Now().Format(cli.TimeLayout), t.Out.Bold(name(p)), s.text(t.Out))
}

// printVacant says of each line that is vacant for how long it has been: after vacantAfter, and whenever that has
// doubled.
func (t *changePrinter) printVacant(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, last := range t.before {
		since := now.Sub(last.at)
		if !last.change.Vacant || since < vacantAfter || t.said[key].After(last.at) &&
			since < 2*t.said[key].Sub(last.at) {
			continue
		}
		t.said[key] = now
		if t.JSON {
			t.Out.Object(struct {
				At     time.Time `json:"at"`
				Event  string    `json:"event"`
				Recipe string    `json:"recipe,omitempty"`
				For    int64     `json:"forMs"`
			}{now, "still-vacant", last.change.Recipe, since.Milliseconds()})
			continue
		}
		t.Out.Line("%s  %s", now.Format(cli.TimeLayout), t.Out.Red("still vacant: nobody has been in line "+
			"for "+cli.Short(since)))
	}
}
