package program

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/play"
	"github.com/incumbent-go/incumbent/internal/play/server"
)

func (a *app) playWorlds() *cobra.Command {
	s := &pageServer{app: a}
	c := &cobra.Command{
		Use:   "play [LINK]",
		Short: "play with leadership in a simulated world, in a browser",
		Long: `Freeze a leader, cut a follower off, lose a reply, and see who may believe what: the
page plays the library's own state machines in a simulated world, and touches nothing else.
Take a deed out, and the same world runs again: only what it caused is different.

LINK is the page's address, what stands behind # in it, or the name of a lesson:
` + lessonList() + `
It prints an address: open it in a browser. The address has a new token each time. The
server is on the loopback interface, and answers only under its names and those of --host.

Exit codes:
   0  ended by a signal
  64  the command line is wrong
  69  the address cannot be listened on`,
		Example: "  incumbent play\n  incumbent play deaf-leader\n  incumbent play " +
			"'1;latch;usual;3;7~8.5:freeze:alice:9@30'",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactly("a LINK")(c, args)
		},
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

// linkOf returns the link that an argument names, and behind it the record that was selected in the page: an address
// may be given as a whole.
func linkOf(arg string) (string, error) {
	names := make([]string, 0, len(play.Lessons()))
	for _, l := range play.Lessons() {
		if l.ID == arg {
			return l.Link, nil
		}
		names = append(names, l.ID)
	}
	if _, behind, found := strings.Cut(arg, "#"); found {
		arg = behind
	}
	if plain, err := url.PathUnescape(arg); err == nil {
		arg = plain
	}
	arg, selected, _ := strings.Cut(arg, "!")
	if !strings.Contains(arg, ";") {
		return "", cli.Usage("no lesson %s: want one of %s, or a link in quotes, such as '1;latch;usual;3;7'",
			events.Quote(arg, events.MaxName), strings.Join(names, ", "))
	}
	script, err := play.ParseLink(arg)
	if err != nil {
		return "", cli.Usage("%w", err)
	}
	if selected == "" || len(selected) > 300 {
		return script.Link(), nil
	}
	return script.Link() + "!" + url.PathEscape(selected), nil
}

// lessonList returns the lessons, a line each.
func lessonList() string {
	var b strings.Builder
	for _, l := range play.Lessons() {
		b.WriteString("  " + l.ID + strings.Repeat(" ", max(1, 22-len(l.ID))) + strings.ToLower(l.Title[:1]) +
			l.Title[1:] + "\n")
	}
	return b.String()
}
