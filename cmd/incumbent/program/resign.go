package program

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// resigner is one run of resign.
type resigner struct {
	*app
	connection
	id, node string
	byID     bool
	plains   prefixes
	dry      bool
}

func (a *app) resign() *cobra.Command {
	r := &resigner{app: a}
	c := &cobra.Command{
		Use:   "resign PATH [--id ID] [--node NAME]",
		Short: "move leadership, as an operator: delete the place of the first in line",
		Long: `Move leadership: delete the node of the first in line, or that of the participant
with an id. Its owner, if it is of this library or a recent Curator, stops leading and queues
again at the tail. Its work is cancelled at the moment when the next may begin to lead.

If nobody matches, or more than one does, nothing is deleted, and those that are
in line are listed. --node selects one by its name, as status shows it; with --id
too, both have to match. A persistent node, which no session owns and behind which
nobody can lead, is deleted only if --node names it.

Exit codes:
   0  the node was deleted, or would be (--dry-run)
  65  nobody fits, or more than one` + exitCodes,
		Example: `  incumbent resign /jobs/nightly
  incumbent resign /jobs/nightly --id db1/4711 --dry-run`,
		Args: exactly("a PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			r.byID = c.Flags().Changed("id")
			return a.withLine(c.Context(), &r.connection, args[0], r.plains,
				func(ctx context.Context, client *incumbent.Client, line incumbent.Line) error {
					return r.run(ctx, client, args[0], line)
				})
		},
	}
	f := c.Flags()
	f.StringVar(&r.id, "id", "", "whose node: the id, exactly (default: that of the first in line)")
	f.StringVar(&r.node, "node", "", "which node, by its name as status shows it, where an id is not enough")
	f.BoolVar(&r.dry, "dry-run", false, "say what would be deleted, and delete nothing")
	r.flags(a, f)
	r.plains.flags(f)
	a.JSONFlag(c)
	return c
}

func (r *resigner) run(ctx context.Context, client *incumbent.Client, dir string, line incumbent.Line) error {
	p, err := r.pick(dir, line)
	if err != nil {
		return cli.Exit(exitNobody, err)
	}
	if !r.dry {
		err := client.Evict(ctx, p)
		if errors.Is(err, incumbent.ErrNotInLine) {
			return cli.Exit(exitNobody, err)
		}
		if err != nil {
			return failure(err)
		}
	}
	if r.JSON {
		r.Out.Object(struct {
			Deleted participant `json:"deleted"`
			DryRun  bool        `json:"dryRun,omitempty"`
		}{participantObject(position(line, p), p), r.dry})
		return nil
	}
	did := "deleted"
	if r.dry {
		did = "would delete"
	}
	r.Out.Line("%s %s of %s, token %s", did, events.Foreign(p.Path, events.MaxText), name(p), token(p))
	if r.dry {
		return nil
	}
	after, err := client.Line(ctx, dir, r.plains...)
	if err != nil {
		return failure(err)
	}
	r.showLine(dir, after, nil, func(incumbent.Participant) {})
	return nil
}

// pick returns the one participant that --id and --node select.
func (r *resigner) pick(dir string, line incumbent.Line) (incumbent.Participant, error) {
	var fit []incumbent.Participant
	for _, p := range line.Participants {
		byName := r.node == "" && !p.Persistent() || r.node != "" && (path.Base(p.Path) == path.Base(r.node) ||
			nodeName(p) == r.node || shortNode(p) == r.node)
		byID := !r.byID || p.Err == nil && (p.ID == r.id || name(p) == r.id)
		if byName && byID && (p.First || r.byID || r.node != "") {
			fit = append(fit, p)
		}
	}
	blocker, blocked := line.Blocker()
	switch {
	case blocked && !r.byID && r.node == "":
		return incumbent.Participant{}, cli.WithLines(fmt.Errorf("%s: %s with --node %s", dir, blockedBy(blocker),
			nodeName(blocker)), list("In line are:", line.Participants)...)
	case len(fit) == 1:
		return fit[0], nil
	case len(line.Participants) == 0:
		return incumbent.Participant{}, fmt.Errorf("%s is vacant: nobody is in line%s", dir, missing(line))
	case len(fit) == 0:
		return incumbent.Participant{}, cli.WithLines(fmt.Errorf("nobody in %s fits", dir), list("In line are:",
			line.Participants)...)
	}
	return incumbent.Participant{}, cli.WithLines(fmt.Errorf("%d fit; say with --node which one is meant",
		len(fit)), list("These fit:", fit)...)
}

// maxListed is how many participants an error lists.
const maxListed = 32

// list returns the lines of an error that lists participants under a title.
func list(title string, all []incumbent.Participant) []string {
	lines := []string{title}
	for i, p := range all {
		if i == maxListed {
			return append(lines, fmt.Sprintf("  and %d more: see incumbent status", len(all)-i))
		}
		line := fmt.Sprintf("  --id %s --node %s", name(p), nodeName(p))
		switch {
		case p.Persistent():
			line += "  (persistent: no session owns it, only --node selects it)"
		case p.First:
			line += "  (first)"
		}
		lines = append(lines, line)
	}
	return lines
}

func position(line incumbent.Line, p incumbent.Participant) int {
	at := positions{}
	for _, other := range line.Participants {
		if n := at.next(other); other.Path == p.Path {
			return n
		}
	}
	return 0
}
