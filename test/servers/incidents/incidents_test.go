package incidents

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

var rewrite = flag.Bool("rewrite", false, "write the golden texts again")

// text is what is said of an incident: with the transaction logs, and without them.
func text(t *testing.T, i Incident, dir string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(i.Name + ": " + i.What + ".\n")
	for _, with := range []bool{true, false} {
		logs, txns, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if with {
			b.WriteString("\nWith the servers' transaction logs, in full:\n")
		} else {
			b.WriteString("\nWithout them:\n")
			txns = nil
		}
		r := why.Explain(logs, txns, why.Options{})
		if misfit := i.Misfit(r); misfit != "" && with {
			t.Errorf("%s: %s", i.Name, misfit)
		}
		b.WriteString(strings.Join(r.Lines(with), "\n") + "\n")
	}
	return b.String()
}

func TestIncidents(t *testing.T) {
	for _, i := range All() {
		t.Run(i.Name, func(t *testing.T) {
			dir := filepath.Join("testdata", i.Name)
			golden := filepath.Join(dir, "golden.txt")
			got := text(t, i, dir)
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("why says\n%s\nand %s has\n%s", got, golden, want)
			}
		})
	}
}

// What became of the leader's node is known by a code.
func TestWhatBecameOfTheNode(t *testing.T) {
	for name, want := range map[string]why.NodeEnd{"killed": why.NodeExpired, "operators-deletion": why.NodeDeleted,
		"resigned": why.NodeDeletedByOwn, "cut-briefly": why.NodeStayed, "server-restart": why.NodeStayed} {
		logs, txns, err := Read(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range why.Explain(logs, txns, why.Options{}).Moves {
			if m.From == nil {
				continue
			}
			if m.NodeEnd != want {
				t.Errorf("%s: %q, want %q", name, m.NodeEnd, want)
			}
			break
		}
	}
}

// Clocks that are aligned by zxids and node times alone stay so when one is set. (All clients ran on one host: their
// logs have one clock, unless that is taken from them.)
func TestASetClockIsAligned(t *testing.T) {
	for _, i := range All() {
		if i.Name != "clock-set" {
			continue
		}
		logs, txns, err := Read(filepath.Join("testdata", i.Name))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			l.Clock = ""
		}
		for _, txns := range [][]txnlog.Txn{txns, nil} {
			if misfit := i.Misfit(why.Explain(logs, txns, why.Options{})); misfit != "" {
				t.Error(misfit)
			}
		}
	}
}
