// Command sim runs the simulation by hand: one world with its story, or a long
// run that can be stopped and taken up again.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/test/sim"
)

func main() {
	seed := flag.Int64("seed", 0, "run this world, tell its story and write its logs")
	dir := flag.String("logs", ".cache/sim", "where the logs go")
	soak := flag.Int64("soak", 0, "run so many worlds, from where the last run stopped")
	state := flag.String("state", ".cache/sim/next", "where a long run keeps its place")
	shrink := flag.Bool("shrink", false, "make a failing world smaller first")
	flag.Parse()
	err := os.MkdirAll(*dir, 0o700)
	switch {
	case err != nil:
	case *soak > 0:
		err = long(*soak, *state)
	default:
		err = one(*seed, *dir, *shrink)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// one tells a world's story and writes a log for each of its clients.
func one(seed int64, dir string, shrink bool) error {
	o := sim.Options{Keep: true, Story: true}
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
		fmt.Printf("client %d: %s   (go run ./cmd/demo replay %s)\n", i, name, name)
	}
	fmt.Printf("%d events, healed in %s, worst belief after a deletion by others %s\n", r.Events, r.Settled, r.Worst)
	if len(r.Broken) > 0 {
		return fmt.Errorf("%s", r.Report())
	}
	return nil
}

// long runs many worlds, says how it goes, and keeps its place in a file.
func long(n int64, state string) error {
	first := int64(1)
	if b, err := os.ReadFile(state); err == nil {
		if first, err = strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err != nil {
			return fmt.Errorf("%s: %w", state, err)
		}
		fmt.Printf("going on from seed %d; delete %s to begin anew\n", first, state)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	said := time.Now()
	sum := sim.Many(ctx, first, n, sim.Options{}, func(s *sim.Sum) {
		if time.Since(said) < 10*time.Second {
			return
		}
		said = time.Now()
		rate := float64(s.Worlds) / s.Took.Seconds()
		left := time.Duration(float64(n-s.Worlds) / rate * float64(time.Second))
		fmt.Printf("%d worlds, %.0f/s, %s left, worst belief after a deletion by others %s, failed %d\n",
			s.Worlds, rate, left.Round(time.Second), s.Worst, len(s.Failed))
		_ = os.WriteFile(state, []byte(strconv.FormatInt(s.Next, 10)), 0o600)
	})
	if err := os.WriteFile(state, []byte(strconv.FormatInt(sum.Next, 10)), 0o600); err != nil {
		return err
	}
	fmt.Println(sum)
	for _, r := range sum.Failed {
		fmt.Println(r.Report())
	}
	if len(sum.Failed) > 0 {
		return fmt.Errorf("%d worlds failed", len(sum.Failed))
	}
	return nil
}
