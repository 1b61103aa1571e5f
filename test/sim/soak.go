package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// savedSum is a long run on disk: the sum of its worlds, and the charts that they ran.
type savedSum struct {
	Charts string
	Sum    *Sum
}

// Soak runs seeds from first on until so many worlds are in the sum in a file. It stops
// with the context, and can be resumed: the totals are those of a run that was not stopped.
// It calls report every ten seconds. A file of other charts is an error.
func Soak(ctx context.Context, path string, first, worlds int64, o Options, report func(*Sum)) (*Sum, error) {
	sum, err := resume(path, first)
	if err != nil {
		return nil, err
	}
	var failed error
	said := time.Now()
	Many(ctx, sum, worlds-sum.Worlds, o, func(s *Sum) {
		if time.Since(said) < 10*time.Second {
			return
		}
		said = time.Now()
		report(s)
		failed = errors.Join(failed, s.keep(path))
	})
	return sum, errors.Join(failed, sum.keep(path))
}

// resume reads the sum of a run before, or returns a new one.
func resume(path string, first int64) (*Sum, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return NewSum(first), nil
	}
	if err != nil {
		return nil, err
	}
	k := savedSum{Sum: NewSum(first)}
	switch err := json.Unmarshal(b, &k); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case k.Charts != charts():
		return nil, fmt.Errorf("%s was made with other charts: delete it to start from the beginning", path)
	case k.Sum.First != first:
		return nil, fmt.Errorf("%s began with seed %d, not %d: delete it to start from the beginning", path, k.Sum.First, first)
	}
	return k.Sum, nil
}

// keep writes the sum into a second file and renames it, so that a run that is killed
// leaves the last complete sum.
func (s *Sum) keep(path string) error {
	b, err := json.Marshal(savedSum{charts(), s})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Progress returns one line: how far a run of so many worlds is, how fast, and how long
// the rest will take.
func (s *Sum) Progress(worlds int64) string {
	rate := float64(s.Worlds) / max(s.Took.Seconds(), 0.001)
	left := time.Duration(float64(worlds-s.Worlds) / max(rate, 0.001) * float64(time.Second))
	return fmt.Sprintf("%d of %d worlds, %.0f/s, %s left, worst belief after a deletion by others %s, failed %d",
		s.Worlds, worlds, rate, left.Round(time.Second), s.Worst, len(s.Failed))
}

// charts returns a digest of all charts' digests.
func charts() string {
	h := fnv.New64a()
	for _, r := range machines.Recipes() {
		fmt.Fprintln(h, r.Name(), r.Digest())
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// MarshalText makes a Row a key in JSON.
func (r Row) MarshalText() ([]byte, error) {
	return []byte(r.Chart + "|" + r.From + "|" + r.Row), nil
}

// UnmarshalText reads a Row.
func (r *Row) UnmarshalText(b []byte) error {
	parts := strings.SplitN(string(b), "|", 3)
	if len(parts) != 3 {
		return fmt.Errorf("sim: %q is no row", b)
	}
	r.Chart, r.From, r.Row = parts[0], parts[1], parts[2]
	return nil
}
