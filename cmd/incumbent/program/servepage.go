package program

import (
	"net/http"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/internal/page/live"
)

func (a *app) servePages() *cobra.Command {
	s := &pageServer{app: a}
	c := &cobra.Command{
		Use:   "serve DIR",
		Short: "show recorded logs in a browser while they are written",
		Long: `Show the logs that --record DIR writes as a page: the one of "incumbent why --html",
drawn again as records come. Nothing is written. Files with other names than --record
gives them are not read, nor are links and directories. A line here says which, and so
does the page. For copied logs with other names: "incumbent why --html".

The address is printed. It has a token that is another one each time: who knows the
address may read the logs. The server is on the loopback interface, and answers only
under its names and those of --host, so that another site cannot ask it through your
browser. To look from elsewhere, forward a port: ssh -L 8080:127.0.0.1:8080 HOST.

Exit codes:
   0  ended by a signal
  64  the command line is wrong
  66  there is no such directory
  69  the address cannot be listened on`,
		Example: "  incumbent serve /var/log/incumbent\n  incumbent serve /var/log/incumbent --listen 127.0.0.1:8080",
		Args:    exactly("a DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(c.Context())
			defer stop()
			return s.serve(ctx, "", func(who live.Access) (http.Handler, error) {
				handler, err := live.Handler(args[0], live.Options{Token: who.Token, Hosts: who.Hosts})
				// the page has the error, too
				if others, failed := live.Unread(args[0]); err == nil && failed == nil && others != "" {
					s.Note("%s", others)
				}
				return handler, cli.Exit(exitNoInput, err)
			})
		},
	}
	s.flags(c)
	return c
}
