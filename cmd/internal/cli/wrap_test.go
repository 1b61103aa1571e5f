package cli

import (
	"os"
	"strings"
	"testing"
)

// No word is broken, no line is wider than the terminal, nothing is lost, and colours take no column.
func TestLinesEndBetweenWords(t *testing.T) {
	text := "  /jobs/nightly: \x1b[1m\"alice\"\x1b[0m is first in line with token 4294967302, and has been in line " +
		"for 3h12m0s; the server of bob does not answer\nshort\n"
	for _, width := range []int{40, 60, 80, 200} {
		got := wrap(text, width)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("at %d columns words are lost or broken:\n%s", width, got)
		}
		for i, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
			if visible(line) > width {
				t.Errorf("at %d columns a line has %d: %q", width, visible(line), line)
			}
			if i > 0 && line != "short" && !strings.HasPrefix(line, "    ") {
				t.Errorf("at %d columns a broken line is not indented: %q", width, line)
			}
		}
	}
	long := strings.Repeat("x", 90)
	for _, same := range []struct {
		text  string
		width int
	}{{text, 0}, {text, leastWidth - 1}, {long + "\n", 80}, {"a b\n", 80}, {"", 80}} {
		if got := wrap(same.text, same.width); got != same.text {
			t.Errorf("%q at %d columns is %q", same.text, same.width, got)
		}
	}
	if got, want := wrap("see "+long+" there\n", 80), "see\n  "+long+"\n  there\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file that is no terminal has no width: what is piped has one line for each line.
func TestAFileHasNoWidth(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := widthOf(f); n != 0 {
		t.Errorf("a file has %d columns", n)
	}
	if p := NewPrinter(f); p.width != 0 || p.colour {
		t.Errorf("a file has %d columns, and colours: %v", p.width, p.colour)
	}
}
