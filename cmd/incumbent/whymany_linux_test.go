package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var manyRecords = flag.Int("records", 0, "explain logs of busy locks with so many records: make large-logs")

// busyLocks is a simulated world whose clients' records go to files.
type busyLocks struct {
	world.Idle
	*world.World
	tb    testing.TB
	files map[int]*events.Writer
	n     int
}

func (w *busyLocks) Recorded(c *world.Client, r events.Record) {
	w.n++
	if err := w.files[c.ID()].Write(r); err != nil {
		w.tb.Fatal(err)
	}
}

// newBusyLocks has twelve clients take four locks again and again, one of them with readers and one with two permits.
// The logs are in the directory.
func newBusyLocks(tb testing.TB, dir string, records int) {
	tb.Helper()
	script := world.Script{Seed: 7, Tick: 2 * time.Second, SyncLimit: 5, Timeout: 8 * time.Second}
	for i := range 12 {
		p := world.Program{Recipe: "mutex", Path: fmt.Sprintf("/locks/x%d", i%4), Works: time.Millisecond}
		switch i % 4 {
		case 1:
			p.Recipe, p.Options = "readwrite", map[string]string{"reads": fmt.Sprint(i > 4)}
		case 2:
			p.Recipe, p.Options = "semaphore", map[string]string{"limit": "2"}
		}
		script.Clients = append(script.Clients, p)
	}
	w := &busyLocks{tb: tb, files: map[int]*events.Writer{}}
	var err error
	if w.World, err = world.New(script, w); err != nil {
		tb.Fatal(err)
	}
	var ends []func() error
	for _, c := range w.Clients() {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("client%d.log", c.ID())))
		if err != nil {
			tb.Fatal(err)
		}
		out := bufio.NewWriter(file)
		w.files[c.ID()], err = events.NewWriter(out, events.Header{Start: "2026-11-25T00:00:00Z",
			StartAt: c.Clock() - w.Now()})
		if err != nil {
			tb.Fatal(err)
		}
		ends = append(ends, w.files[c.ID()].Flush, out.Flush, file.Close)
	}
	for w.n < records {
		w.Step(1000, time.Hour)
	}
	for _, end := range ends {
		if err := end(); err != nil {
			tb.Fatal(err)
		}
	}
}

// What why keeps of a record is little, with a page and without. Its CPU time is noted only.
func TestWhyKeepsLittleOfManyRecords(t *testing.T) {
	records := cmp.Or(*manyRecords, 20_000)
	dir := t.TempDir()
	newBusyLocks(t, dir, records)
	whyKeepsLittle(t, records, int64(50<<20+440*records), dir)
	page := filepath.Join(t.TempDir(), "why.html") // it has 100,000 at most
	whyKeepsLittle(t, records, int64(150<<20+350*records), dir, "--html", page)
}

// whyKeepsLittle explains logs with so many records, and looks at how much memory that takes.
func whyKeepsLittle(t *testing.T, records int, most int64, args ...string) {
	t.Helper()
	why := exec.CommandContext(t.Context(), programtest.Binary(), append([]string{"why"}, args...)...)
	why.Env = append(os.Environ(), "GOGC=")
	var said bytes.Buffer
	why.Stdout = &said
	if err := why.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- why.Wait() }()
	peak, err := peakUntil(why.Process.Pid, ended)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 5) { // 5: cannot tell
		t.Fatal(err)
	}
	for _, path := range []string{"/locks/x0 ", "/locks/x1 ", "/locks/x2 ", "/locks/x3 "} {
		if !strings.Contains(said.String(), "\n"+path) {
			t.Errorf("no line %sin\n%s", path, &said)
		}
	}
	if peak > most && !selection.Raced() {
		t.Errorf("%d records took %d MB, want %d MB at most", records, peak>>20, most>>20)
	}
	t.Logf("%d records, %s: %.1f s of CPU, %d MB", records, args[1:],
		(why.ProcessState.UserTime() + why.ProcessState.SystemTime()).Seconds(), peak>>20)
}

// peakUntil returns the most memory that a process had while it ran, and what it ended with. The usage that a parent
// gets from the kernel will not do: it counts the parent's own memory before the exec.
func peakUntil(pid int, ended <-chan error) (peak int64, err error) {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // none once it has ended
		if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
			var kB int64
			if _, err := fmt.Sscan(rest, &kB); err == nil {
				peak = max(peak, kB<<10)
			}
		}
		select {
		case err := <-ended:
			return peak, err
		case <-look.C:
		}
	}
}
