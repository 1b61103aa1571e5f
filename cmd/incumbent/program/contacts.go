package program

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/internal/doctor"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// asker asks the servers which sessions they have connections of.
type asker struct {
	servers []string
	tls     *zkio.TLS // nil: in the clear
}

// asker returns one for the servers of the flags.
func (c *connection) asker() *asker {
	servers, _, err := zkio.ParseServers(c.servers)
	if err != nil {
		return &asker{} // the client has the error
	}
	return &asker{servers, c.tls()}
}

// contact is what a server says of a session's connection.
type contact struct{ silent, timeout time.Duration }

// contacts are the connections that servers know, by session.
type contacts struct {
	of     map[int64]contact
	silent []string // the servers that did not answer
	untold bool     // a server answered, and does not list its connections: 4lw.commands.whitelist
}

// askWithin bounds the answer of one server: the line is shown without it.
const askWithin = time.Second

// ask asks all servers at once. Its answer is nil if none lists its connections.
func (a *asker) ask(ctx context.Context) *contacts {
	all, mu, wait := contacts{of: map[int64]contact{}}, sync.Mutex{}, sync.WaitGroup{}
	listed := false
	for _, server := range a.servers {
		wait.Go(func() {
			text, err := doctor.Word(ctx, server, a.tls, "cons", askWithin)
			mu.Lock()
			defer mu.Unlock()
			of, ok := readConnections(text)
			switch {
			case err != nil:
				all.silent = append(all.silent, server)
			case !ok:
				all.untold = true
			}
			for session, c := range of {
				// an old connection is closed later
				if known, twice := all.of[session]; !twice || c.silent < known.silent {
					all.of[session] = c
				}
			}
			listed = listed || ok && err == nil
		})
	}
	wait.Wait()
	if !listed {
		return nil
	}
	return &all
}

// listedConnection is one line of the answer, as ServerCnxn.dumpConnectionInfo writes it.
var listedConnection = regexp.MustCompile(`(?m)^ ?` +
	`/\S+\[\d+\]\(.*\bsid=0x([0-9a-f]{1,16}),.*\bto=(\d{1,9}),.*\blresp=(\d{1,18}),`)

// readConnections reads a server's list of connections, and reports whether it is one. The times in it are by the
// server's own clock, of which the youngest answer to anybody is the best reading: a session is silent since the
// server's last answer to it, before that one.
func readConnections(text string) (map[int64]contact, bool) {
	type answered struct{ timeout, at int64 }
	all, now := map[int64]answered{}, int64(0)
	for _, m := range listedConnection.FindAllStringSubmatch(text, -1) {
		session, _ := strconv.ParseUint(m[1], 16, 64) // the pattern allows nothing else
		timeout, _ := strconv.ParseInt(m[2], 10, 64)
		at, _ := strconv.ParseInt(m[3], 10, 64)
		all[int64(session)] = answered{timeout, at}
		now = max(now, at)
	}
	of := map[int64]contact{}
	for session, a := range all {
		of[session] = contact{time.Duration(now-a.at) * time.Millisecond, time.Duration(a.timeout) * time.Millisecond}
	}
	return of, strings.HasPrefix(strings.TrimSpace(text), "/")
}

// The codes of signs.
const (
	signConnected = "connected" // its server has heard from it
	signSilent    = "silent"    // its server has not heard from it for half of its session timeout
	signUnseen    = "unseen"    // no server that answered has its connection
)

// signs are what servers say of the connection of a participant.
type signs struct {
	Code    string   `json:"code"`
	Silent  int64    `json:"silentMs"`         // since the last answer to it
	Timeout int64    `json:"timeoutMs"`        // of its session, which ends if it is silent for that long
	Down    []string `json:"down,omitempty"`   // servers that did not answer
	Untold  bool     `json:"untold,omitempty"` // a server does not list its connections
}

// signsOf returns those of the first in each line, by the paths of their nodes.
func signsOf(line incumbent.Line, known *contacts) map[string]*signs {
	all := map[string]*signs{}
	for _, p := range line.Participants {
		if s := known.signs(p); p.First && s != nil {
			all[p.Path] = s
		}
	}
	return all
}

// signs returns what is known of one participant; nil if nothing is.
func (c *contacts) signs(p incumbent.Participant) *signs {
	if c == nil || p.Err != nil || p.Persistent() || p.Recipe == machines.LeaseLine {
		return nil
	}
	at, seen := c.of[p.Owner]
	s := &signs{signConnected, at.silent.Milliseconds(), at.timeout.Milliseconds(), c.silent, c.untold}
	switch {
	case !seen && c.untold:
		return nil
	case !seen:
		s.Code = signUnseen
	case at.silent > at.timeout/2:
		s.Code = signSilent
	}
	return s
}

// text says what the signs are: in red if they are bad.
func (s *signs) text(out *cli.Printer) string {
	ms := time.Millisecond
	silent, timeout := cli.Short(time.Duration(s.Silent)*ms), cli.Short(time.Duration(s.Timeout)*ms)
	switch {
	case s.Code == signConnected:
		return "it is connected: its server heard from it in the last " + cli.Short(max(time.Second,
			time.Duration(s.Silent)*ms))
	case s.Code == signSilent:
		return out.Red(fmt.Sprintf("TROUBLE: its server has heard nothing from it for %s: its session ends after %s",
			silent, timeout))
	case len(s.Down) > 0:
		return out.Red(fmt.Sprintf("TROUBLE: no server that answers has its connection, and %s does not answer",
			strings.Join(s.Down, ", ")))
	}
	return out.Red("TROUBLE: none of the servers of --servers has its connection: its process has ended or is cut " +
		"off; its node goes with its session")
}
