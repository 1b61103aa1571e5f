package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// ran runs a command, and returns the exit code and what was written to stderr.
func ran(out *Printer, does func(a *App) error, args ...string) (int, string) {
	var errs bytes.Buffer
	a := &App{Name: "program", Out: out, Err: plainPrinter(&errs)}
	root := &cobra.Command{Use: "program", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return does(a) }}
	root.Flags().String("flag", "", strings.Repeat("word ", 30))
	return a.Run(root, args), errs.String()
}

// plainPrinter returns a printer to what is no file.
func plainPrinter(w io.Writer) *Printer { return &Printer{w: w, broken: make(chan struct{})} }

// What a program exits with, and what it says on stderr: a line for the error, and one for each further line of it.
func TestExitCodes(t *testing.T) {
	fails := errors.New("incumbent: no answer")
	for name, c := range map[string]struct {
		err  error
		args []string
		code int
		said string
	}{
		"success":         {nil, nil, 0, ""},
		"an error":        {fails, nil, ExitFailed, "program: no answer\n"},
		"further lines":   {WithLines(fails, "a", "b"), nil, ExitFailed, "program: no answer\na\nb\n"},
		"one of its own":  {fmt.Errorf("%w", Exit(42, fails)), nil, 42, "program: no answer\n"},
		"a silent one":    {&ExitError{Code: 42}, nil, 42, ""},
		"usage":           {Usage("which?"), nil, ExitUsage, "program: which?\n"},
		"a wrong command": {nil, []string{"x"}, ExitUsage, "program: unknown command \"x\" for \"program\"\n"},
	} {
		if code, said := ran(plainPrinter(io.Discard), func(*App) error { return c.err },
			c.args...); code != c.code || said != c.said {
			t.Errorf("%s: exit code %d, stderr %q; want %d, %q", name, code, said, c.code, c.said)
		}
	}
}

// A stdout that cannot be written is the program's error, but for a reader that has gone: then it ends as by SIGPIPE.
// The error of the command goes first.
func TestAnOutputThatCannotBeWritten(t *testing.T) {
	full := errors.New("no room")
	for name, c := range map[string]struct {
		write, err error
		code       int
		said       string
	}{
		"no room":            {full, nil, ExitNoOutput, "program: no room\n"},
		"nobody reads":       {&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, nil, exitPipe, ""},
		"the command failed": {full, Exit(42, errors.New("first")), 42, "program: first\n"},
	} {
		opened := newGate()
		opened.err = c.write
		close(opened.opened)
		for _, long := range []bool{false, true} {
			code, said := ran(plainPrinter(opened), func(a *App) error {
				if long {
					a.Out.queue(a.droppedFromOut)
				}
				a.Out.Line("a line")
				return c.err
			})
			if code != c.code || said != c.said {
				t.Errorf("%s: exit code %d, stderr %q; want %d, %q", name, code, said, c.code, c.said)
			}
		}
	}
}

// Help is at most 80 columns wide.
func TestHelpIsNarrow(t *testing.T) {
	var out bytes.Buffer
	if code, said := ran(plainPrinter(&out), nil, "--help"); code != 0 || said != "" ||
		!strings.Contains(out.String(), "--flag") {
		t.Fatalf("exit code %d: %s%s", code, said, &out)
	}
	for line := range strings.Lines(out.String()) {
		if visible(line) > 81 {
			t.Errorf("a line of %d columns: %s", visible(line), line)
		}
	}
}

// A line that is written at once is counted as written. A printer to a terminal knows how wide it is.
func TestPrinters(t *testing.T) {
	var b bytes.Buffer
	p := plainPrinter(&b)
	if n, err := p.Write([]byte("four")); n != 4 || err != nil || b.String() != "four" {
		t.Errorf("wrote %d, %v: %q", n, err, &b)
	}
	for width, want := range map[int]bool{0: false, 1: true, 80: true} {
		if p.width = width; p.IsTerminal() != want {
			t.Errorf("%d columns: a terminal: %t", width, !want)
		}
	}
}

// A device gets colours unless its user wants none. The null device is one.
func TestColours(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		no, term string
		want     bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"", "dumb", false}, {"", "", true}} {
		t.Setenv("NO_COLOR", c.no)
		t.Setenv("TERM", c.term)
		if got := colours(null); got != c.want {
			t.Errorf("NO_COLOR=%q TERM=%q: colours %t, want %t", c.no, c.term, got, c.want)
		}
	}
}

// A duration has three figures at most.
func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999_499: "999µs", 9_999_499: "9.999ms", 10_499_999: "10ms", 999_499_999: "999ms", time.Second: "1s",
		9_994_999_999: "9.99s", 10_499_999_999: "10s", 15_500_000_000: "16s", time.Hour + 1: "1h0m0s",
	} {
		if got := Short(d); got != want {
			t.Errorf("%d ns: %s, want %s", d, got, want)
		}
	}
}
