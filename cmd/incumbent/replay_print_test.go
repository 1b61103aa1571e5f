//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/events"
)

// Heartbeats that changed nothing are left out of what is printed, here of a log of a version with other charts.
func TestReplayPrintsWithoutHeartbeats(t *testing.T) {
	const file = "../../test/worlds/histories/testdata/rideout_15s.jsonl"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	log, err := events.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	heartbeats := 0
	for {
		r, err := log.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Heartbeat() {
			heartbeats++
		} else {
			want = append(want, fmt.Sprint(r.Seq))
		}
	}
	if heartbeats < 4 {
		t.Fatalf("the log has %d heartbeats", heartbeats)
	}
	out := start(t, nil, "replay", file, "--print", "--no-heartbeats").Exits(2).Out.String()
	var got []string
	for _, line := range regexp.MustCompile(`(?m)^ *(\d+) +\+`).FindAllStringSubmatch(out, -1) {
		got = append(got, line[1])
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the records %q are printed, want %q", got, want)
	}
	if n := len(start(t, nil, "replay", file, "--print", "--no-heartbeats", "--json").Exits(2).Objects()); n !=
		len(want)+1 {
		t.Errorf("%d objects, want %d records and a summary", n, len(want))
	}
	programtest.Contains(t, start(t, nil, "replay", file, "--no-heartbeats").Exits(64).Err.String(),
		"--no-heartbeats needs --print")
}
