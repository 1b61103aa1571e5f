//go:build unix

package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/internal/segments"
)

// oneLog returns a directory with the log of a client that has ended, and the text of another one's.
func oneLog(t *testing.T) (dir string, text []byte) {
	t.Helper()
	c, dir := recorded(t)
	leads(t, c, "/jobs/one")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for text == nil || bytes.Count(text, []byte("\n")) < 8 { // the recorder writes a little later
		if text, err = os.ReadFile(files[0]); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, text
}

// One log that cannot be read, or is no file, takes nothing from the others. Nothing hangs, and no link is followed.
func TestADamagedLogIsLeftOut(t *testing.T) {
	dir, text := oneLog(t)
	other := filepath.Join(dir, "20261124T234822.000000Z-other-7-000001.jsonl")
	write := func(b []byte) func() error { return func() error { return os.WriteFile(other, b, 0o600) } }
	lines := bytes.SplitAfter(text, []byte("\n"))
	corrupt := append(bytes.Join(lines[:5], nil), "{\"<b>\u202e\n"...)
	elsewhere := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(elsewhere, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		make func() error
		logs int
		says string
	}{
		"empty":        {write(nil), 1, segments.NoHeader},
		"no log":       {write([]byte("root:x:0\n")), 1, "not a log header"},
		"half a gzip":  {write([]byte{0x1f, 0x8b, 8}), 1, "the compressed file"},
		"corrupt":      {write(append(corrupt, bytes.Join(lines[6:], nil)...)), 2, "damaged at line 6"},
		"torn":         {write(text[:len(text)-9]), 2, ""},
		"a link":       {func() error { return os.Symlink(elsewhere, other) }, 1, ""},
		"a pipe":       {func() error { return syscall.Mkfifo(other, 0o600) }, 1, ""},
		"a directory":  {func() error { return os.Mkdir(other, 0o700) }, 1, ""},
		"not readable": {func() error { return os.Symlink("nowhere", other) }, 1, ""},
	} {
		if err := c.make(); err != nil {
			t.Fatal(what, err)
		}
		e, err := (&directory{path: dir, maxRecords: 1000}).document(nil, 0)
		switch {
		case err != nil:
			t.Errorf("%s: %v", what, err)
		case len(e.doc.Logs) != c.logs || c.says == "" && e.damage != "" ||
			!strings.Contains(e.damage+e.unread, c.says):
			t.Errorf("%s: %d logs, %q, %q; want %d, %q", what, len(e.doc.Logs), e.damage, e.unread, c.logs, c.says)
		}
		if err := os.RemoveAll(other); err != nil {
			t.Fatal(err)
		}
	}
}

// A page says what is damaged behind the document, and no longer when it is mended.
func TestDamageIsSaid(t *testing.T) {
	dir, text := oneLog(t)
	other := filepath.Join(dir, "20261124T234822.000000Z-other-7-000001.jsonl")
	if err := os.WriteFile(other, []byte("root:x:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler(t, dir, Options{}))
	t.Cleanup(server.Close)
	stream := listen(t, server.URL+"/"+token+"/events", "")
	if d, n := stream.document(); len(d.Logs) != 1 || n == 0 {
		t.Errorf("%d records of %d logs", n, len(d.Logs))
	}
	if name, data := stream.next(); name != "trouble" || !strings.Contains(data, "not a log header") {
		t.Error(name, data)
	}
	if err := os.WriteFile(other, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for logs := 0; logs != 2; { // the file may be seen while it is written
		var d page.Document
		if name, data := stream.next(); name == "document" {
			if err := json.Unmarshal([]byte(data), &d); err != nil {
				t.Fatal(err)
			}
		}
		logs = len(d.Logs)
	}
}

// A page says which files are not read, and why, and no longer when they are gone.
func TestUnreadFilesAreSaid(t *testing.T) {
	dir, text := oneLog(t)
	other := filepath.Join(dir, "alice.log")
	if err := os.WriteFile(other, text, 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `Not read: "alice.log" (not named as a client names its segments). For copied logs with ` +
		`other names: ` +
		`incumbent why --html.`
	if said, err := Unread(dir); err != nil || said != want {
		t.Errorf("%q, %v; want %q", said, err, want)
	}
	server := httptest.NewServer(handler(t, dir, Options{}))
	t.Cleanup(server.Close)
	stream := listen(t, server.URL+"/"+token+"/events", "")
	says := func(want string) {
		t.Helper()
		if d, _ := stream.document(); len(d.Logs) != 1 {
			t.Errorf("%d logs", len(d.Logs))
		}
		var said string
		if name, data := stream.next(); name != "unread" || json.Unmarshal([]byte(data), &said) != nil || said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
	says(want)
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	says("")
	var many []segments.Unread
	for i := range 7 {
		many = append(many, segments.Unread{Name: fmt.Sprint(i), Why: []string{"x", "y"}[i%2]})
	}
	if said := unread(many); !strings.HasPrefix(said, `Not read: "0", "2", "4" (x); "1", "3" (y); and 2 more.`) {
		t.Error(said)
	}
}

// Dumps of one client that overlap are one log.
func TestDumpsAreOneLog(t *testing.T) {
	dir := t.TempDir()
	for i, from := range []uint64{3, 1} {
		var b bytes.Buffer
		w, err := events.NewWriter(&b,
			events.Header{Run: strings.Repeat("a", 32), Before: from - 1, Dump: "asked for", Host: "host"})
		for seq := from; err == nil && seq < from+5; seq++ {
			err = w.Write(events.Record{Seq: seq, Machine: "session",
				Event: events.Event{Kind: events.TimerFired, At: int64(seq)}, Row: events.RowUnknown})
		}
		if err == nil {
			err = w.WriteEnd("asked for")
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("20261124T23482%d.000000Z-host-7-000001.jsonl", i)),
				b.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e, err := (&directory{path: dir, maxRecords: 1000}).document(nil, 0)
	if err != nil || len(e.doc.Logs) != 1 || e.damage != "" || e.has["host"] != 7 {
		t.Errorf("%+v, %v", e, err)
	}
}

// Many small logs have room for their headers, which are longer than their records.
func TestSmallLogsHaveRoom(t *testing.T) {
	dir, text := oneLog(t)
	const logs, records = 1200, 1
	short := bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:1+records], nil)
	for i := range logs {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("20261124T234822.000000Z-other-%d-000001.jsonl", i)),
			short, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(short)*logs < 1<<20 {
		t.Fatalf("%d bytes have room anyway", len(short)*logs)
	}
	all, _, err := (&directory{path: dir, maxRecords: records*logs + 100}).read()
	if err != nil || len(all) != logs+1 {
		t.Errorf("%d logs, %v", len(all), err)
	}
}

// A directory that is too large is not read again while it stays as it is.
func TestATooLargeDirectoryIsReadOnce(t *testing.T) {
	dir, _ := oneLog(t)
	d := &directory{path: dir, maxRecords: 3}
	_, err := d.document(nil, 0)
	if err == nil || !strings.Contains(err.Error(), "more than 3 records") {
		t.Fatal(err)
	}
	d.took = 0 // as if it had been quick
	for range 20 {
		if state, yes, err := d.changed(); yes || state != d.seen || err != nil {
			t.Fatal("it is read again", err)
		}
		if _, again := d.document(nil, 0); again == nil || again.Error() != err.Error() {
			t.Errorf("%v, then %v", err, again)
		}
	}
	d.at, d.took = time.Now().Add(-time.Hour), 0
	if _, yes, _ := d.changed(); !yes {
		t.Error("it is never read again")
	}
	runs, err := segments.Runs(dir)
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	if _, _, err := d.readRun(runs[0], &budget{records: 1000, bytes: 300, most: 1000, longest: 300}); !errors.Is(err,
		errTooMuch) || !strings.Contains(err.Error(), "more than 300 bytes") {
		t.Errorf("a log that is too long: %v", err)
	}
}

// A page can be mounted under another path.
func TestMountedBelow(t *testing.T) {
	h := http.StripPrefix("/ops", handler(t, t.TempDir(), Options{}))
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	res, err := http.Get(server.URL + "/ops/" + token)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Request.URL.Path != "/ops/"+token+"/" {
		t.Error(res.StatusCode, res.Request.URL)
	}
}

// Names under which nobody could ask are refused, and so is a page while sixteen are loaded.
func TestHostsAndPagesAreChecked(t *testing.T) {
	for host, good := range map[string]bool{"ops.example.com": true, "::1": true, "[fd00::7]": true, "10.0.0.7": true,
		"[::1": false, "::1]": false, "[ops]": false, "[10.0.0.7]": false, "fe80::1%lo": false, "1:2:3": false,
		"é.example": false,
		"":          false, "ops:8080": false, "http://ops": false, "*.example.com": false, "a b": false} {
		if _, err := Handler(t.TempDir(), Options{Token: token, Hosts: []string{host}}); (err == nil) != good {
			t.Errorf("%q: %v", host, err)
		}
	}
	h := handler(t, t.TempDir(), Options{})
	for range maxStreams {
		h.(*server).pages <- struct{}{}
	}
	r, w := httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://localhost/%s/", token), nil), httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable {
		t.Error(w.Code, w.Body)
	}
}
