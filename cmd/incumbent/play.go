package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/play"
	"github.com/incumbent-go/incumbent/play/server"
)

func (a *app) playWorlds() *cobra.Command {
	s := &pageServer{app: a}
	c := &cobra.Command{
		Use:   "play [LINK]",
		Short: "play with leadership in a simulated world, in a browser",
		Long: `Freeze a leader, cut a follower off, lose a reply, and see who may believe what: the
page plays the library's own state machines in a simulated world, and touches nothing else.
Take a deed out, and the same world runs again: only what it caused is different.

LINK is what stands behind # in the page's address, or the name of a lesson:
` + lessonList() + `
It prints an address: open it in a browser. The address has a new token each time. The
server is on the loopback interface, and answers only under its names and those of --host.

Exit codes:
   0  ended by a signal
  64  the command line is wrong
  69  the address cannot be listened on`,
		Example: "  incumbent play\n  incumbent play deaf-leader\n  incumbent play '1;latch;usual;3;7~8.5:freeze:alice:9@30'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			after := ""
			if len(args) > 0 {
				link, err := linkOf(args[0])
				if err != nil {
					return err
				}
				after = "#" + link
			}
			ctx, stop := cli.Interruptible(c.Context())
			defer stop()
			return s.serve(ctx, after, server.Handler)
		},
	}
	s.flags(c)
	return c
}

// linkOf returns the link that an argument names.
func linkOf(arg string) (string, error) {
	for _, l := range play.Lessons() {
		if l.ID == arg {
			return l.Link, nil
		}
	}
	if !strings.Contains(arg, ";") {
		return "", cli.Usage("play: no lesson %.40q: want a link like 1;latch;usual;3;7, or one of %s", arg, strings.Join(lessonIDs(), ", "))
	}
	script, err := play.ParseLink(strings.TrimPrefix(arg, "#"))
	if err != nil {
		return "", cli.Usage("%w", err)
	}
	return script.Link(), nil
}

// lessonIDs returns the names by which lessons are opened.
func lessonIDs() []string {
	var all []string
	for _, l := range play.Lessons() {
		all = append(all, l.ID)
	}
	return all
}

// lessonList returns the lessons, a line each.
func lessonList() string {
	var b strings.Builder
	for _, l := range play.Lessons() {
		b.WriteString("  " + l.ID + strings.Repeat(" ", max(1, 22-len(l.ID))) + strings.ToLower(l.Title[:1]) + l.Title[1:] + "\n")
	}
	return b.String()
}
