package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// What a template and a command get of a leader, and what is said if it has no address.
func TestFactsOfALeader(t *testing.T) {
	first := incumbent.Change{First: incumbent.Participant{First: true, ID: "a", Token: 7}}
	bare := leaderFacts{State: "leader", Token: 7}
	for name, test := range map[string]struct {
		leader incumbent.Leader
		want   leaderFacts
		says   string
	}{
		"vacant": {incumbent.Leader{Change: incumbent.Change{Vacant: true}}, leaderFacts{State: "vacant"}, ""},
		"an address": {incumbent.Leader{Change: first, Address: "host-a:1"},
			leaderFacts{"leader", "host-a:1", "host-a", "1", 7}, ""},
		"a URL": {incumbent.Leader{Change: first, Address: "https://host-a/x"},
			leaderFacts{"leader", "host-a:443", "host-a", "443", 7}, ""},
		"no address":      {incumbent.Leader{Change: first}, bare, `"a" advertises no address`},
		"a bad address":   {incumbent.Leader{Change: first, Address: "host a"}, bare, "host a"},
		"unknown":         {incumbent.Leader{Unknown: true}, leaderFacts{State: "unknown"}, ""},
		"several lines":   {incumbent.Leader{Err: errors.New("two lines")}, leaderFacts{State: "unknown"}, "two lines"},
		"it is not known": {incumbent.Leader{Change: first, Err: errors.New("no right")}, bare, "no right"},
	} {
		t.Run(name, func(t *testing.T) {
			errs, said := terminal(t)
			f := leaderFile{app: &app{App: &cli.App{Err: errs}}}
			if got := f.facts(test.leader); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if text := said(); (text != "") != (test.says != "") || !strings.Contains(text, test.says) {
				t.Errorf("it says %q, want %q", text, test.says)
			}
		})
	}
}

// A file that cannot be replaced stays as it is, and nothing is left next to it.
func TestAFileThatCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "is a directory")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	if changed, err := replaceFile(in, []byte("new")); err == nil || changed {
		t.Errorf("a directory is replaced: %v, %v", changed, err)
	}
	file := filepath.Join(dir, "file")
	for _, want := range []bool{true, false} {
		if changed, err := replaceFile(file, []byte("new")); err != nil || changed != want {
			t.Errorf("%v, %v, want %v", changed, err, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v, want the file and the directory", entries, err)
	}
}
