package program

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/machines"
)

func (a *app) shards() *cobra.Command {
	conn := &connection{}
	c := &cobra.Command{
		Use:   "shards PATH",
		Short: "show the members of a group of Shards, and who owns which shard",
		Long: `Show the members of a group of Shards: which shards each of them owns, which of them
writes the assignment, which shards move, and what they wait for.

Only a member itself knows whether it works on a shard: it may be paused, or cut off.
A shard moves when the work on it has returned, so it can wait for its old owner.

MEMBER FOR says how long ago the member's node was created, SAME FOR how long ago its
shards last changed, by the clocks of the ensemble and of this host. Since when it has each
one of them is not in ZooKeeper. MOST is the most shards that it takes.

A member that is for another number of shards owns none, and says so in its own log:
compare its number with the one that is shown. What is shown was read node after
node: while shards move, it may be a mixture of two moments.

Ids are what members say of themselves: they are shown quoted, control characters
escaped, and shortened (not with --json).

Exit codes:
   0  the group was read, also when it has no member, or there is no such directory` + exitCodes,
		Example: "  incumbent shards /jobs/partitions\n" +
			"  incumbent shards /jobs/partitions --json | jq '.owners[] | select(.state != \"owned\")'",
		Args: exactly("a PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := incumbent.CheckPath(args[0]); err != nil {
				return cli.Usage("%w", trimLibrary(err))
			}
			use := func(ctx context.Context, client *incumbent.Client, writers incumbent.Line) error {
				g, err := readShards(ctx, client, args[0])
				if err != nil {
					return failure(err)
				}
				g.writers = writers
				if a.JSON {
					a.Out.Object(g.object())
					return nil
				}
				a.showShards(g)
				return nil
			}
			return a.withLine(c.Context(), conn, machines.ShardWriters(args[0]), nil, use)
		},
	}
	conn.flags(a, c.Flags())
	a.JSONFlag(c)
	return c
}
