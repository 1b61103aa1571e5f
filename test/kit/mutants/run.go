package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outcome is what one run of a test binary came to.
type outcome struct {
	passed bool
	found  string // the test that failed, or during which the binary ended; atStart if there was none
	hang   bool   // the run took longer than its limit
	took   time.Duration
	tests  map[string]time.Duration // those that passed
	output []byte
}

var (
	failed  = regexp.MustCompile(`(?m)^--- FAIL: ([^/\s]+)`)
	passed  = regexp.MustCompile(`(?m)^--- PASS: (\S+) \((.*)s\)`)
	running = regexp.MustCompile(`(?m)^=== RUN +([^/\s]+)`)
)

// play runs the tests of a stage with one mutant on; 0 is none.
func (b *Build) play(ctx context.Context, s Stage, mutant int, limit time.Duration, env ...string) (outcome, error) {
	binary, err := b.binary(ctx, s.Dir)
	if err != nil {
		return outcome{}, err
	}
	args := []string{"-test.v", "-test.failfast", "-test.timeout=0", "-test.run=" + s.Run, "-test.skip=" + s.Skip}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, binary, append(args, s.Args...)...)
	cmd.Dir = filepath.Join(b.root, s.Dir)
	cmd.Env = append(append(environment(), env...), Variable+"="+strconv.Itoa(mutant),
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+b.overlay) // a program that the tests build has the mutants, too
	cmd.WaitDelay = 5 * time.Second // for what a test started
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err = cmd.Start(); err == nil {
		err = errors.Join(limitMemory(cmd.Process.Pid), cmd.Wait())
	}
	o := outcome{took: time.Since(began), output: out.Bytes(), tests: map[string]time.Duration{}}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case limited.Err() != nil:
		o.hang, o.found = true, last(out.String())
	case errors.As(err, &exit):
		o.found = last(out.String())
	case err != nil:
		return o, err
	default:
		o.passed = true
	}
	for _, m := range passed.FindAllStringSubmatch(out.String(), -1) {
		if d, err := time.ParseDuration(m[2] + "s"); err == nil {
			o.tests[m[1]] = d
		}
	}
	return o, nil
}

// atStart stands for the test of a binary that ended before the first.
const atStart = "start"

// last returns the test that failed, or else the one that began last.
func last(output string) string {
	if m := failed.FindStringSubmatch(output); m != nil {
		return m[1]
	}
	if all := running.FindAllStringSubmatch(output, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return atStart
}

// clean is a run of a stage without a mutant.
type clean struct {
	outcome
	reached map[int]bool // the mutants that it came to
	fast    string       // an expression for the tests that took no time worth mentioning; empty if there are none

	fastTook time.Duration // those tests one after the other
}

// fast is how long a test may take that is run before others.
const fast = 300 * time.Millisecond

// clean runs a stage without a mutant. It has to pass.
func (b *Build) clean(ctx context.Context, s Stage, limit time.Duration) (*clean, error) {
	folder, err := os.MkdirTemp(b.folder, "reach")
	if err != nil {
		return nil, err
	}
	reach := filepath.Join(folder, "numbers")
	o, err := b.play(ctx, s, 0, limit, reachVariable+"="+reach)
	if err != nil {
		return nil, err
	}
	if !o.passed {
		return nil,
			fmt.Errorf("%s fails without a mutant (or took more than %s): %s\n%s", s.Dir, limit, o.found, o.output)
	}
	if len(o.tests) == 0 {
		return nil, fmt.Errorf("%s: -run %q -skip %q runs no test", s.Dir, s.Run, s.Skip)
	}
	c := &clean{outcome: o, reached: map[int]bool{}}
	numbers, err := os.ReadFile(reach)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, n := range strings.Fields(string(numbers)) {
		number, err := strconv.Atoi(n)
		if err != nil {
			return nil, err
		}
		c.reached[number] = true
	}
	var names []string
	for name, took := range o.tests {
		if took < fast {
			names = append(names, name)
			c.fastTook += took
		}
	}
	if len(names) > 0 && len(names) < len(o.tests) {
		c.fast = "^(" + strings.Join(names, "|") + ")$"
	}
	return c, nil
}
