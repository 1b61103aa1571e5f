package program

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
)

// guardName is the hidden command that elect starts next to the command that it runs.
const guardName = "guard"

// noteFlag has a guard note the kill in the log of commands.
const noteFlag = "note"

func (a *app) guard() *cobra.Command {
	var notes bool
	c := &cobra.Command{
		Use: guardName, Hidden: true, Args: cobra.NoArgs,
		Short: "watch over elect's command: started by elect, not by people",
		RunE: func(*cobra.Command, []string) error {
			a.Dated = true // its notes are among elect's
			var note func(group.Kill)
			if notes {
				note = noteKill
			}
			group.Guard(a.In, os.Stdout, os.Stderr, func(s string) { a.Note("guard: %s", s) }, note)
			return nil
		},
	}
	c.Flags().BoolVar(&notes, noteFlag, false, "")
	return c
}
