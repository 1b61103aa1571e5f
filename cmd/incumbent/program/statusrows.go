package program

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// maxColumns is how wide a row is that an 80-column terminal shows on one line.
const maxColumns = 80

// showRows prints the participants of one line. If a row is too long, session and node follow it on a line of their
// own.
func (a *app) showRows(line incumbent.Line) {
	now := time.Now()
	rows := [][]string{{"#", "ID", "IN LINE", "TOKEN", "SESSION", "NODE", ""}}
	for i, p := range line.Participants {
		session, first := hex(p.Owner), ""
		if p.Err != nil || p.Persistent() {
			session = "-"
		}
		if p.First && i > 0 && p.Recipe != machines.LeaseLine {
			first = "first, too" // readers hold together
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), name(p), inLineFor(p, now), token(p), session, shortNode(p),
			first})
	}
	table := cli.Aligned(rows)
	long := slices.ContainsFunc(table, func(row string) bool { return utf8.RuneCountInString(row) > maxColumns })
	if long {
		short := [][]string{}
		for _, row := range rows {
			short = append(short, append(slices.Clone(row[:4]), row[6]))
		}
		table = cli.Aligned(short)
	}
	a.Out.Row(a.Out.Dim(table[0]))
	for i, p := range line.Participants {
		a.Out.Row(table[i+1])
		if long {
			a.Out.Line("     session %s, node %s", rows[i+1][4], rows[i+1][5])
		}
		if text := a.remark(p); text != "" {
			a.Out.Line("     %s", text)
		}
	}
}

// owner returns whose ephemeral node it is that has a path, if there is such a node. A failure says that there is none.
func owner(ctx context.Context, client *incumbent.Client, path string) (incumbent.Participant, bool) {
	node, err := client.Get(path).Do(ctx)
	if err != nil || node.Stat.EphemeralOwner == 0 {
		return incumbent.Participant{}, false
	}
	p := incumbent.Participant{Recipe: machines.NodeElectionRecipe.Name(), Path: path, ID: string(node.Data),
		Token: node.Stat.Czxid, Owner: node.Stat.EphemeralOwner, Created: node.Stat.Ctime, First: true}
	return p, !p.Persistent()
}

// noLine returns why no line can be at a path: it is an ephemeral node, which has no children.
func (a *app) noLine(ctx context.Context, client *incumbent.Client, path string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	p, owned := owner(ctx, client, path)
	if !owned {
		return nil
	}
	shown := events.Foreign(path, events.MaxText)
	return cli.Usage("%s is an ephemeral node, which %s has, as in an election on one node: it has no line; "+
		"incumbent status %s shows who has it, and a program takes part with Client.NodeElection",
		shown, name(p), shown)
}

// remark says what is wrong with a place; "" if nothing is.
func (a *app) remark(p incumbent.Participant) string {
	switch {
	case p.Err != nil:
		return a.Out.Red("unreadable: " + events.Foreign(trimLibrary(p.Err).Error(), events.MaxText))
	case p.Persistent():
		return a.Out.Red("PERSISTENT: no session owns it, so it never goes: delete it by hand")
	}
	return ""
}

// inLineFor returns how long ago a node was created, as far as two clocks can say it.
func inLineFor(p incumbent.Participant, now time.Time) string {
	if p.Created.IsZero() {
		return "-"
	}
	return ago(now.Sub(p.Created))
}

// ago returns a duration with its two largest units; "0s" if it is negative, as by clocks that differ.
func ago(d time.Duration) string {
	d = max(d, 0)
	days, hours, minutes, seconds := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case days > 0:
		return fmt.Sprintf("%dd%dh", days, hours)
	case hours > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%dm%ds", minutes, seconds)
	}
	return fmt.Sprintf("%ds", seconds)
}

// shortNode returns the name of a participant's node without its GUID.
func shortNode(p incumbent.Participant) string {
	full := path.Base(p.Path)
	if at := strings.LastIndex(full, p.Prefix); at > 0 && p.Prefix != "" {
		full = full[at:]
	}
	return events.Foreign(full, events.MaxText)
}
