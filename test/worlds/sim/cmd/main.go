// Command sim runs one world of the simulation by hand, and tells its story.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

func main() {
	seed := flag.Int64("seed", 0, "run this world, tell its story and write its logs")
	dir := flag.String("logs", ".cache/sim", "where the logs go")
	shrink := flag.Bool("shrink", false, "make a failing world smaller first")
	plant := flag.String("plant", "",
		"plant this bug: a name of test/worlds/sim/testdata/plants.tsv, or the beginning of one; \"none: NAME\" is a "+
			"world of a recipe's own, of a fault's or of a kind of servers, without a bug")
	flag.Parse()
	err := os.MkdirAll(*dir, 0o700)
	if err == nil {
		err = one(*seed, *dir, *shrink, *plant)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// one runs a world, prints its story and writes a log for each of its clients.
func one(seed int64, dir string, shrink bool, plant string) error {
	o := sim.Options{Keep: true, Story: true}
	for _, p := range slices.Concat(sim.Plants(), sim.SeparateWorlds(), sim.VacancyWorlds(), sim.EnsembleWorlds(),
		sim.ServerWorlds()) {
		if plant != "" && o.Plant == nil && strings.HasPrefix(p.Name, plant) {
			o.Plant = &p
		}
	}
	if plant != "" && o.Plant == nil {
		return fmt.Errorf("-plant: no name begins with %q: test/worlds/sim/testdata/plants.tsv has the names of bugs, "+
			"\"none: NAME\" is a world of a recipe's own, of a fault's or of a kind of servers", plant)
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
