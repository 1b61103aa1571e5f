package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/bench/driver"
	"github.com/incumbent-go/incumbent/bench/machine"
	"github.com/incumbent-go/incumbent/bench/meter"
	"github.com/incumbent-go/incumbent/bench/peer"
	"github.com/incumbent-go/incumbent/bench/report"
	"github.com/incumbent-go/incumbent/bench/servers"
	"github.com/incumbent-go/incumbent/test/kit/proxy"
)

// session is one run of a part.
type session struct {
	options
	part
	*programs
	zk, etcd *servers.Group // etcd is nil if it is missing
	revision string
	versions []string
}

// play plays the part and returns its tables.
func (s *session) play(ctx context.Context) (string, error) {
	var err error
	s.revision = revision(ctx)
	if s.zk, s.etcd, err = s.start(ctx, s.part); err != nil {
		return "", err
	}
	defer s.zk.Close()
	s.versions = append(s.versions, s.zk.Version)
	if s.etcd != nil {
		defer s.etcd.Close()
		s.versions = append(s.versions, s.etcd.Version)
	}
	var tables strings.Builder
	for _, delay := range s.networks() {
		if err := s.network(ctx, delay, &tables); err != nil {
			return "", err
		}
	}
	return s.heading(time.Now()) + tables.String(), nil
}

// networks returns the delays to play with; 0 is the loopback.
func (s *session) networks() []time.Duration {
	if len(s.delays) == 0 {
		return []time.Duration{0}
	}
	return s.delays
}

// network plays all scenarios on one network.
func (s *session) network(ctx context.Context, delay time.Duration, tables *strings.Builder) (err error) {
	addrs, closeLinks, err := s.links(delay)
	if err != nil {
		return err
	}
	defer closeLinks()
	d := s.driver(fmt.Sprintf("/timed-%v", delay), addrs, nil)
	defer func() { err = errors.Join(err, d.Close()) }()
	versions, err := d.Versions()
	if err != nil {
		return err
	}
	for _, program := range slices.Sorted(maps.Keys(versions)) {
		if !slices.Contains(s.versions, versions[program]) {
			s.versions = append(s.versions, versions[program])
		}
	}
	counts, err := s.count(ctx)
	if err != nil {
		return err
	}
	for i, scenario := range s.entered() {
		if ctx.Err() != nil {
			return nil // what was measured until now is shown
		}
		result, err := d.Play(ctx, scenario, s.warm)
		if err != nil {
			return err
		}
		if result.Counts = nil; counts != nil {
			result.Counts = counts[i]
		}
		for _, t := range tablesOf(result, delay) {
			tables.WriteString("\n" + t.Markdown())
		}
	}
	return nil
}

// entered returns the scenarios without the entrants whose programs are missing.
func (s *session) entered() []driver.Scenario {
	entered := slices.Clone(s.scenarios)
	for i := range entered {
		entered[i].Entrants = slices.DeleteFunc(slices.Clone(entered[i].Entrants), func(e driver.Entrant) bool {
			return s.missing[e.Program] != ""
		})
	}
	return entered
}

// links puts a slow link before every server, if there is a delay: half of it each way.
func (s *session) links(delay time.Duration) (addrs map[string][]string, end func(), err error) {
	addrs = s.addrs()
	if delay == 0 {
		return addrs, func() {}, nil
	}
	var all []*proxy.Link
	end = func() {
		for _, l := range all {
			l.Close()
		}
	}
	for program, direct := range addrs {
		slow := make([]string, len(direct))
		for i, addr := range direct {
			link, err := proxy.New(addr)
			if err != nil {
				end()
				return nil, nil, err
			}
			link.Delay(proxy.Forth, delay/2)
			link.Delay(proxy.Back, delay/2)
			all, slow[i] = append(all, link), link.Addr()
		}
		addrs[program] = slow
	}
	return addrs, end, nil
}

// addrs returns the addresses of each program's servers.
func (s *session) addrs() map[string][]string {
	addrs := map[string][]string{}
	for program := range s.args {
		switch {
		case s.missing[program] != "":
		case program == etcd:
			addrs[program] = s.etcd.Addrs
		default:
			addrs[program] = s.zk.Addrs
		}
	}
	return addrs
}

func (s *session) driver(root string, addrs map[string][]string,
	count map[string]func() (int64, int64)) *driver.Driver {
	d := &driver.Driver{
		Commands: map[string]func() *exec.Cmd{}, Count: count, Root: root, Rounds: s.rounds, Most: s.most, Seed: s.seed,
		Take: machine.Take, Usage: driver.Usage,
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	}
	for program, servers := range addrs {
		d.Commands[program] = func() *exec.Cmd { return s.command(program, servers, s.revision) }
	}
	return d
}

// count plays every scenario once, through meters, and returns what was counted; nil if the part counts nothing.
func (s *session) count(ctx context.Context) (all []map[driver.Entrant]driver.Count, err error) {
	if !s.counts {
		return nil, nil
	}
	addrs, counters := map[string][]string{}, map[string]func() (int64, int64){}
	for program, direct := range s.addrs() {
		framing := meter.ZooKeeper
		if program == etcd {
			framing = meter.HTTP2
		}
		m, err := meter.New(direct[0], framing)
		if err != nil {
			return nil, err
		}
		defer m.Close()
		addrs[program], counters[program] = []string{m.Addr()}, m.Count
	}
	d := s.driver("/counted", addrs, counters)
	d.Rounds, d.Most = 1, 1
	defer func() { err = errors.Join(err, d.Close()) }()
	for _, scenario := range s.entered() {
		result, err := d.Play(ctx, scenario, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, result.Counts)
	}
	return all, nil
}

// revision returns the commit of the checkout, and whether it was changed.
func revision(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty=-changed", "--exclude=*").Output()
	if err != nil {
		return "(no commit)"
	}
	return strings.TrimSpace(string(out))
}

// heading says when, where and how the part was measured.
func (s *session) heading(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n", s.title)
	command := "make bench-peers PART=" + s.name
	if s.scenario != "" {
		command += ` ARGS="-scenario ` + s.scenario + `"`
	}
	fmt.Fprintf(&b, "`%s`, %s, %d processors, order of seed %d. %s.\n", command,
		now.UTC().Format("2 January 2006, 15:04 UTC"), runtime.NumCPU(), s.seed, strings.Join(s.versions, "; "))
	for _, program := range slices.Sorted(maps.Keys(s.missing)) {
		fmt.Fprintf(&b, "Not run: %s.\n", s.missing[program])
	}
	return b.String()
}

// tablesOf returns the tables of a scenario.
func tablesOf(result *driver.Result, delay time.Duration) (all []*report.Table) {
	s := result.Scenario
	units := report.Table{Result: result, Counts: result.Counts, Lock: lock, Ours: incumbent}
	if slices.Contains(s.Entrants, floor) {
		units.Floor = floor
	}
	for _, figure := range figures(s) {
		t := units
		t.Title, t.Metric, t.Expense, t.PerRun = figure.title, figure.metric, figure.expense, figure.perRun
		if delay > 0 {
			t.Title += fmt.Sprintf(", a network of %v", delay)
		}
		all = append(all, &t)
	}
	return all
}

// figure is one table of a scenario.
type figure struct {
	title, metric   string
	expense, perRun bool
}

// figures returns the tables of a scenario.
func figures(s driver.Scenario) []figure {
	switch s.Name {
	case peer.Cycle:
		of := ""
		if recipe := s.Entrants[len(s.Entrants)-1].Recipe; !slices.Contains(s.Entrants, floor) {
			of = ": " + recipe
		}
		return []figure{{"Start → leading" + of, peer.Acquired, false, false},
			{"Lock and unlock, or start and release" + of, peer.Whole, true, false}}
	case peer.HandOver:
		return []figure{{"Hand-over", peer.Handed, true, false}}
	}
	titles := map[string]string{
		peer.Line: "A line of %d, one session", peer.LineOwn: "A line of %d, own sessions",
		peer.Fresh:    "%d at once, fresh paths",
		peer.Existing: "%d at once, existing paths", peer.Release: "Release of %d at once",
		peer.Clients: "%d clients that lead",
	}
	return []figure{{fmt.Sprintf(titles[s.Name], s.N), peer.Whole, true, true}}
}
