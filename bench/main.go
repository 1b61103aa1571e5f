// Command bench compares this library with go-zookeeper's Lock, Curator, kazoo and etcd: bench/results.md has what it
// prints. It starts servers and programs, has the programs play the same scenarios in turns, and prints tables in
// Markdown. It needs Linux, and what make deps installs. It is run in its own folder: make bench-peers PART=quick.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/incumbent-go/incumbent/bench/driver"
)

// options are the flags.
type options struct {
	part     string
	scenario string
	rounds   int
	most     int
	seed     uint64
	into     string
	extra    []string // what follows the flags
}

func main() {
	var o options
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	flag.StringVar(&o.part, "part", "quick", "one of "+strings.Join(names, ", "))
	flag.StringVar(&o.scenario, "scenario", "", "play only this scenario of the part")
	flag.IntVar(&o.rounds, "rounds", driver.Enough, "how many quiet rounds are wanted")
	flag.IntVar(&o.most, "most", 0, "how many rounds are played at most (default: half as many again as are wanted)")
	flag.Uint64Var(&o.seed, "seed", 1, "of the order in which programs have their turns")
	flag.StringVar(&o.into, "into", "", "replace the part's tables in this file, too")
	flag.Parse()
	if o.most == 0 {
		o.most = o.rounds + o.rounds/2
	}
	o.extra = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// check returns the part that is played, or what is wrong with the flags: a wrong one must not be found when all was
// measured.
func (o options) check() (part, error) {
	i := slices.IndexFunc(parts(), func(p part) bool { return p.name == o.part })
	if i < 0 {
		return part{}, fmt.Errorf("-part %q: there is no such part, see -help", o.part)
	}
	p := parts()[i]
	var names []string
	for _, s := range p.scenarios {
		names = append(names, s.Name)
	}
	p.scenarios = slices.DeleteFunc(p.scenarios, func(s driver.Scenario) bool {
		return o.scenario != "" && s.Name != o.scenario
	})
	switch {
	case o.scenario != "" && len(p.scenarios) == 0:
		return p,
			fmt.Errorf("-scenario %q: the part %s has %s", o.scenario, p.name,
				strings.Join(slices.Compact(names), ", "))
	case o.rounds < 1:
		return p, fmt.Errorf("-rounds %d: want at least 1", o.rounds)
	case o.most < 1:
		return p, fmt.Errorf("-most %d: want at least 1", o.most)
	case len(o.extra) > 0:
		return p, fmt.Errorf("%q: there are flags only, see -help", o.extra[0])
	case o.into != "":
		page, err := os.ReadFile(o.into)
		if err == nil {
			_, err = between(string(page), p.name, "")
		}
		if err != nil {
			return p, fmt.Errorf("-into: %w", err)
		}
	}
	return p, nil
}

func run(ctx context.Context, o options) error {
	p, err := o.check()
	if err != nil {
		return err
	}
	built, err := build(ctx)
	if built != nil {
		defer built.remove()
	}
	if err != nil {
		return err
	}
	begin := time.Now()
	s := &session{options: o, part: p, programs: built}
	play := s.play
	if p.double {
		play = s.double
	}
	text, err := play(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "took %v\n", time.Since(begin).Round(time.Second))
	fmt.Print(text)
	if o.into == "" || ctx.Err() != nil {
		return ctx.Err()
	}
	return embed(o.into, p.name, text)
}

// embed replaces what stands between a part's two marks in a file.
func embed(file, name, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	replaced, err := between(string(old), name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(replaced), 0o644)
}

// between returns a page in which a part's tables are these.
func between(page, name, text string) (string, error) {
	from, to := "<!-- part "+name+" -->\n", "<!-- /part "+name+" -->"
	before, rest, ok := strings.Cut(page, from)
	_, after, ends := strings.Cut(rest, to)
	if !ok || !ends {
		return "", errors.New("the file has no marks " + strings.TrimSpace(from) + " and " + to)
	}
	return before + from + text + to + after, nil
}
