// Command sim runs the simulation by hand: one world with its story, or a long run that
// can be stopped and resumed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/test/sim"
)

func main() {
	seed := flag.Int64("seed", 0, "run this world, tell its story and write its logs")
	dir := flag.String("logs", ".cache/sim", "where the logs go")
	soak := flag.Int64("soak", 0, "run worlds until there are so many, from where the last run stopped")
	first := flag.Int64("first", 1, "the seed that a long run begins with")
	state := flag.String("state", ".cache/sim/soak.json", "where a long run keeps its place")
	shrink := flag.Bool("shrink", false, "make a failing world smaller first")
	plant := flag.String("plant", "", "plant this bug: a name of test/sim/testdata/plants.tsv, or the beginning of one; \"none: NAME\" is a world of a recipe's own, of a fault's or of a kind of servers, without a bug")
	flag.Parse()
	err := os.MkdirAll(*dir, 0o700)
	switch {
	case err != nil:
	case given("soak") && *soak < 1:
		err = fmt.Errorf("-soak %d: want at least one world", *soak)
	case *soak > 0:
		err = long(*first, *soak, *state)
	default:
		err = one(*seed, *dir, *shrink, *plant)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// given reports whether the command line has a flag.
func given(name string) (is bool) {
	flag.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}

// one runs a world, prints its story and writes a log for each of its clients.
func one(seed int64, dir string, shrink bool, plant string) error {
	o := sim.Options{Keep: true, Story: true}
	for _, p := range slices.Concat(sim.Plants(), sim.SeparateWorlds(), sim.VacancyWorlds(), sim.EnsembleWorlds(), sim.ServerWorlds()) {
		if plant != "" && o.Plant == nil && strings.HasPrefix(p.Name, plant) {
			o.Plant = &p
		}
	}
	if plant != "" && o.Plant == nil {
		return fmt.Errorf("-plant: no name begins with %q: test/sim/testdata/plants.tsv has the names of bugs, \"none: NAME\" is a world of a recipe's own, of a fault's or of a kind of servers", plant)
	}
	r := sim.Run(seed, o)
	if shrink && len(r.Broken) > 0 {
		r = sim.Shrink(r, o)
	}
	fmt.Println(r.Plan)
	for _, line := range r.Story {
		fmt.Println(line)
	}
	for i, log := range r.Logs {
		name := filepath.Join(dir, fmt.Sprintf("%d-client-%d.log", seed, i))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := sim.WriteLog(f, log); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		fmt.Printf("client %d: %s   (go run ./cmd/incumbent replay %s)\n", i, name, name)
	}
	fmt.Printf("%d events, healed in %s, worst belief after a deletion by others %s\n", r.Events, r.Settled, r.Worst)
	if len(r.Broken) > 0 {
		return fmt.Errorf("%s", r.Report())
	}
	return nil
}

// long runs many worlds, prints the progress, and keeps the sum in a file.
func long(first, worlds int64, state string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	sum, err := sim.Soak(ctx, state, first, worlds, sim.Options{}, func(s *sim.Sum) { fmt.Println(s.Progress(worlds)) })
	if err != nil {
		return err
	}
	fmt.Println(sum)
	for _, r := range sum.Failed {
		fmt.Println(r.Report())
	}
	switch {
	case len(sum.Failed) > 0:
		return fmt.Errorf("%d worlds failed", len(sum.Failed))
	case sum.Worlds < worlds:
		fmt.Printf("stopped before seed %d; the same command goes on there, delete %s to start from the beginning\n", sum.Next, state)
	}
	return nil
}
