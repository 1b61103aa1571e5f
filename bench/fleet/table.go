package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// titles of the scenarios' tables, of so many sessions.
var titles = map[string]string{
	"lines": "%d sessions, each in a line of its own",
	"line":  "%d sessions in one line",
	"pairs": "%d sessions, two in each line",
}

func heading(o options, version string, now time.Time) string {
	return fmt.Sprintf("\n`make fleet ARGS=\"-servers %d -sessions %d\"`, %s, %d processors for clients and servers "+
		"together. %s.\n",
		o.servers, o.sessions, now.UTC().Format("2 January 2006, 15:04 UTC"), runtime.NumCPU(), version)
}

// table returns the steps as Markdown. Requests and listings are those for each session that takes part in the step's
// end.
func (s *stage) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n#### "+titles[s.title]+"\n\n", s.sessions)
	b.WriteString("| step | took, s | requests a session | listings | multis and syncs | connections | sent, MB | " +
		"received, MB | servers' CPU, s | clients' CPU, s | watches after it | clients' memory, MB |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, step := range s.steps {
		t, n := step.clients.Traffic, float64(step.clients.Connected)
		each := func(count int64) string { return fmt.Sprintf("%.2f", float64(count)/n) }
		fmt.Fprintf(&b, "| %s | %.1f | %s | %s | %s | %s | %.1f | %.1f | %.1f | %.1f | %d | %d |\n",
			step.name, step.took.Seconds(), each(t.all()), each(t.Requests[opList]),
			each(t.Requests[opMulti]+t.Requests[opSync]), each(t.Connections), float64(t.Up)/1e6, float64(t.Down)/1e6,
			step.server.CPU.Seconds(), time.Duration(step.clients.CPU).Seconds(), step.server.Watches,
			step.clients.RSS>>20)
	}
	return b.String()
}

// embed replaces what stands between the two marks of a name in a page.
func embed(page, name, text string) (string, error) {
	from, to := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, begins := strings.Cut(page, from)
	_, after, ends := strings.Cut(rest, to)
	if !begins || !ends {
		return "", errors.New("the file has no marks " + strings.TrimSpace(from) + " and " + to)
	}
	return before + from + text + to + after, nil
}
