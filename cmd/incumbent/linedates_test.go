//go:build unix

package main_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// date begins the lines of programs that run for long: date, time with milliseconds, and zone.
var date = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d `)

// dated checks that every line of a text begins with a time of the test, in the zone of the program.
func dated(t *testing.T, began time.Time, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		at, err := time.Parse("2006-01-02T15:04:05.000Z07:00", strings.TrimSpace(date.FindString(line)))
		if err != nil || at.Before(began.Truncate(time.Millisecond)) || at.After(time.Now()) {
			t.Errorf("the line has no date, or a wrong one: %s (%v)", line, err)
		}
		if _, offset := at.Zone(); offset != zoneOffset {
			t.Errorf("the time is in another zone: %s", line)
		}
	}
	if text == "" {
		t.Error("nothing was said")
	}
}

// zoneOffset is the program's time zone, in seconds east of Greenwich.
const zoneOffset = -(3*3600 + 1800)

// zoneFile returns a file for TZ, as tzfile(5) describes it: the tests need no zones of the host.
func zoneFile(t *testing.T) string {
	t.Helper()
	data := append([]byte("TZif"), make([]byte, 16)...)
	// five counts, the length of the names, and the offset
	for _, n := range []uint32{0, 0, 0, 0, 1, 4, 0x1_0000_0000 + zoneOffset} {
		data = binary.BigEndian.AppendUint32(data, n)
	}
	data = append(data, 0, 0, 'X', 'S', 'T', 0)
	file := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLinesOfLongRunsHaveDates(t *testing.T) {
	srv := zkmem.Start(t)
	began := time.Now()
	zone := zoneFile(t)
	run := func(args ...string) *programtest.Program {
		return programtest.Start(t,
			[]string{"TZ=" + zone, "INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + srv.Addr()}, args...)
	}
	watching := run("watch", line)
	watching.Prints("vacant")
	leading := run("elect", line, "--verbose", "--", "sh", "-c", "echo up; read line")
	leading.Prints("up")
	node, session := owner(t, srv, line)
	leading.Notes(fmt.Sprintf("session 0x%x; running", session))
	waiting := run("lock", line, "--selector=false", "--", "true")
	waiting.Exits(64) // elect's flag: the error has no date
	programtest.Contains(t, waiting.Err.String(), "incumbent: unknown flag")
	if err := srv.Delete(node); err != nil {
		t.Fatal(err)
	}
	leading.Exits(75)
	programtest.Contains(t, leading.Err.String(), "leading "+line+" with token ", "(--requeue queues again)")
	dated(t, began, leading.Err.String())
	watching.Prints("was first for ")
	watching.Signal(syscall.SIGINT)
	watching.Exits(0)
	dated(t, began, watching.Out.String())
	if strings.HasPrefix(run("status", "x").Exits(64).Err.String(), "2") {
		t.Error("the error of a short command has a date")
	}
}
