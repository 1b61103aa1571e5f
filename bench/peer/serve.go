package peer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Run is a scenario that was prepared.
type Run struct {
	Go    func() (map[string][]int64, error) // plays it, and returns its samples in nanoseconds
	Clean func() error                       // releases what is left
}

// Main is the main function of a program in Go. Its arguments are the servers' addresses, separated by commas, and the
// session timeout in milliseconds. It ends when its input ends.
func Main(versions string, open func(servers []string, timeout time.Duration) (Session, error)) {
	err := serveArgs(os.Args[1:], versions, open)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveArgs(args []string, versions string, open func([]string, time.Duration) (Session, error)) error {
	if len(args) != 2 {
		return errors.New("peer: the arguments are SERVERS and MILLISECONDS of the session timeout")
	}
	millis, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("peer: the session timeout %q is no number of milliseconds", args[1])
	}
	servers := strings.Split(args[0], ",")
	stage, err := NewStage(func() (Session, error) { return open(servers, time.Duration(millis)*time.Millisecond) })
	if err != nil {
		return err
	}
	defer stage.Close()
	return Serve(os.Stdin, os.Stdout, versions+", "+runtime.Version(), stage.Prepare)
}

// Module returns the version of a module that the program was built with: of the program's own, if path is its path.
func Module(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return info.Main.Version
}

// Serve answers commands until the input ends. An error of prepare, of a run or of a command is an answer, not an error
// of Serve.
func Serve(in io.Reader, out io.Writer, versions string, prepare func(Command) (*Run, error)) error {
	lines := bufio.NewScanner(in)
	answers := json.NewEncoder(out)
	var run *Run
	for lines.Scan() {
		var answer Answer
		command, err := ParseCommand(lines.Text())
		if err == nil {
			answer, run, err = obey(command, versions, run, prepare)
		}
		var unsupported *UnsupportedError
		if errors.As(err, &unsupported) {
			answer = Answer{Unsupported: unsupported.Error()}
		} else if err != nil {
			answer = Answer{Error: err.Error()}
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// obey carries one command out. It returns the run that the next command is about.
func obey(c Command, versions string, run *Run, prepare func(Command) (*Run, error)) (Answer, *Run, error) {
	switch {
	case c.Do == Versions:
		return Answer{Versions: versions}, run, nil
	case c.Do == Prepare && run != nil:
		return Answer{}, run, errors.New("peer: prepare follows prepare: clean is missing")
	case c.Do == Prepare:
		next, err := prepare(c)
		return Answer{}, next, err
	case run == nil:
		return Answer{}, nil, fmt.Errorf("peer: %s without prepare", c.Do)
	case c.Do == Clean:
		return Answer{}, nil, run.Clean()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	samples, err := run.Go()
	runtime.ReadMemStats(&after)
	return Answer{Samples: samples, Mallocs: after.Mallocs - before.Mallocs}, run, err
}

// UnsupportedError says why a program cannot play a scenario with a recipe.
type UnsupportedError struct{ Scenario, Recipe string }

// Error says what is not supported.
func (e *UnsupportedError) Error() string {
	if e.Scenario == "" {
		return "no recipe " + e.Recipe
	}
	return fmt.Sprintf("no scenario %s with the recipe %s", e.Scenario, e.Recipe)
}
