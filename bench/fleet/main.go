// Command fleet measures what many sessions cost one ensemble: bench/fleet/results.md has what it prints. It starts
// the servers and processes with many clients each, has them queue in many lines or in one, and counts requests,
// bytes, watches and CPU time while they start, rest, lose all servers, and lose half of the sessions at once. It
// needs Linux, and what make deps installs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent/bench/servers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// What all clients ask for, and the tick of the servers.
const (
	sessionTimeout = 15 * time.Second
	tick           = 2 * time.Second
)

type options struct {
	servers   int
	sessions  int
	processes int
	rest      time.Duration
	within    time.Duration
	only      string
	into      string
}

func main() {
	if os.Getenv(workerVariable) != "" {
		exit(work())
	}
	var o options
	flag.IntVar(&o.servers, "servers", 1, "of the ensemble")
	flag.IntVar(&o.sessions, "sessions", 10_000, "of all processes together")
	flag.IntVar(&o.processes, "processes", 4, "of clients; an even number")
	flag.DurationVar(&o.rest, "rest", 30*time.Second, "how long nothing happens, to see what that costs")
	flag.DurationVar(&o.within, "within", 5*time.Minute, "how long a step, or an answer of a process, may take at most")
	flag.StringVar(&o.only, "only", "", "run only this scenario: "+strings.Join(scenarioNames(), ", "))
	flag.StringVar(&o.into, "into", "", "replace the tables of an ensemble of this size in this file, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (o options) check() error {
	switch {
	case o.servers < 1:
		return fmt.Errorf("-servers %d: want at least 1", o.servers)
	case o.processes < 2 || o.processes%2 != 0:
		return fmt.Errorf("-processes %d: want an even number, half of them are killed", o.processes)
	case o.sessions < o.processes || o.sessions%o.processes != 0:
		return fmt.Errorf("-sessions %d: want a multiple of the %d processes", o.sessions, o.processes)
	case o.rest < 0:
		return fmt.Errorf("-rest %v: want no negative time", o.rest)
	case o.within <= o.rest:
		return fmt.Errorf("-within %v: want more than -rest, %v, which is a step, too", o.within, o.rest)
	case o.only != "" && scenarios[o.only] == nil:
		return fmt.Errorf("-only %q: want one of %s", o.only, strings.Join(scenarioNames(), ", "))
	case flag.NArg() > 0:
		return fmt.Errorf("%q: there are flags only, see -help", flag.Arg(0))
	case o.into != "": // a wrong file must not be found when all was measured
		if _, err := o.page(""); err != nil {
			return fmt.Errorf("-into: %w", err)
		}
	}
	return nil
}

func run(ctx context.Context, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	var tables strings.Builder
	version := ""
	for _, name := range scenarioNames() {
		if o.only != "" && o.only != name {
			continue
		}
		group, err := servers.ZooKeeper(ctx, realzk.Usual, o.servers)
		if err != nil {
			return err
		}
		version = group.Version
		s := &stage{options: o, ensemble: &ensemble{Group: group}, title: name}
		err = scenarios[name](ctx, s)
		s.fleet.kill()
		group.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		tables.WriteString(s.table())
	}
	text := heading(o, version, time.Now()) + tables.String()
	fmt.Print(text)
	if o.into == "" {
		return nil
	}
	page, err := o.page(text)
	if err != nil {
		return err
	}
	return os.WriteFile(o.into, page, 0o644)
}

// page returns the page of -into with these tables.
func (o options) page(text string) ([]byte, error) {
	old, err := os.ReadFile(o.into)
	if err != nil {
		return nil, err
	}
	page, err := embed(string(old), fmt.Sprintf("servers %d", o.servers), text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.into, err)
	}
	return []byte(page), nil
}
