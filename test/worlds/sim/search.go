package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Found is a planted bug and the first world that finds it.
type Found struct {
	Plant  string
	Worlds int64
	Seed   int64
	Check  string
}

// SearchPlants searches for plants from seed 1 on, and writes a table. Plants that are
// not wanted keep their known line. The error names the plants that no world found.
func SearchPlants(ctx context.Context, to io.Writer, most int64, wanted func(name string) bool, known []Found) error {
	var missed []error
	for _, p := range Plants() {
		i := slices.IndexFunc(known, func(f Found) bool { return f.Plant == p.Name })
		if i >= 0 && !wanted(p.Name) {
			if _, err := fmt.Fprintln(to, known[i]); err != nil {
				return err
			}
			continue
		}
		if !wanted(p.Name) {
			continue
		}
		f, err := SearchPlant(ctx, p, most)
		if err != nil {
			missed = append(missed, err)
			continue
		}
		if _, err := fmt.Fprintln(to, f); err != nil {
			return err
		}
	}
	return errors.Join(missed...)
}

// SearchPlant runs worlds from seed 1 on until one finds the plant: the world breaks a
// promise with the plant, and none without it.
func SearchPlant(ctx context.Context, p Plant, most int64) (Found, error) {
	for first := int64(1); first <= most; {
		r, ok := firstBroken(ctx, p, first, most-first+1)
		if !ok {
			break
		}
		if passesUnplanted(r) {
			return Found{p.Name, r.Plan.Seed, r.Plan.Seed, r.Broken[0].Check}, nil
		}
		first = r.Plan.Seed + 1
	}
	return Found{}, fmt.Errorf("%q was not found in %d worlds", p.Name, most)
}

// Shows reports whether a world breaks a promise with a plant, and none without it.
func (p Plant) Shows(seed int64) bool {
	r := Run(seed, Options{Plant: &p})
	return len(r.Broken) > 0 && passesUnplanted(r)
}

// passesUnplanted reports whether a world breaks no promise without its plant.
func passesUnplanted(r Result) bool { return len(Run(r.Plan.Seed, Options{Plan: &r.Plan}).Broken) == 0 }

// firstBroken returns the first of so many worlds that breaks a promise with a plant.
func firstBroken(ctx context.Context, p Plant, first, n int64) (Result, bool) {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	sum := NewSum(first)
	Many(stop, sum, n, Options{Plant: &p}, func(s *Sum) {
		if len(s.Failed) > 0 {
			cancel()
		}
	})
	if len(sum.Failed) == 0 {
		return Result{}, false
	}
	return sum.Failed[0], true
}

// String returns a line of the table.
func (f Found) String() string {
	return fmt.Sprintf("%s\t%d\t%d\t%s", f.Plant, f.Worlds, f.Seed, f.Check)
}

// ReadPlants reads such a table.
func ReadPlants(b []byte) ([]Found, error) {
	var all []Found
	for line := range strings.Lines(string(b)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != 4 {
			return nil, fmt.Errorf("sim: %q is no line of a table of plants", line)
		}
		worlds, err1 := strconv.ParseInt(parts[1], 10, 64)
		seed, err2 := strconv.ParseInt(parts[2], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		all = append(all, Found{parts[0], worlds, seed, parts[3]})
	}
	return all, nil
}

// WriteLog writes one client's records as the flight recorder does.
func WriteLog(to io.Writer, log []events.Record) error {
	out, err := events.NewWriter(to, events.Header{Library: "simulation"})
	if err != nil {
		return err
	}
	for _, r := range log {
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return out.Flush()
}
