package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Found is a planted bug and the first world that finds it.
type Found struct {
	Plant  string
	Worlds int64
	Seed   int64
	Check  string
}

// SearchPlants looks for every plant from seed 1 on, and writes a table. The
// error names those that no world found.
func SearchPlants(ctx context.Context, to io.Writer, most int64) error {
	var missed []error
	for _, p := range Plants() {
		stop, cancel := context.WithCancel(ctx)
		found := Many(stop, 1, most, Options{Plant: &p}, func(s *Sum) {
			if len(s.Failed) > 0 {
				cancel()
			}
		})
		cancel()
		if len(found.Failed) == 0 {
			missed = append(missed, fmt.Errorf("%q was not found in %d worlds", p.Name, found.Worlds))
			continue
		}
		r := found.Failed[0]
		if _, err := fmt.Fprintf(to, "%s\t%d\t%d\t%s\n", p.Name, r.Plan.Seed, r.Plan.Seed, r.Broken[0].Check); err != nil {
			return err
		}
	}
	return errors.Join(missed...)
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
	charts := map[string]string{}
	for _, r := range machines.Recipes() {
		charts[r.Name()] = r.Digest()
	}
	out, err := events.NewWriter(to, events.Header{Library: "simulation", Charts: charts})
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
