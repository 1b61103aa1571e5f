package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/usercode"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// journal is a log in memory.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

// said returns the lines since it was called last. It is called in a bubble.
func (j *journal) said(t *testing.T) (all []map[string]any) {
	t.Helper()
	synctest.Wait() // each line is written on another goroutine
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range strings.Split(strings.TrimSuffix(j.text.String(), "\n"), "\n") {
		if line == "" {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		all = append(all, fields)
	}
	j.text.Reset()
	return all
}

// want fails unless the lines since it was called last are these.
func (j *journal) want(t *testing.T, when string, want ...string) {
	t.Helper()
	var wanted []map[string]any
	for _, one := range want {
		var fields map[string]any
		if err := json.Unmarshal([]byte(one), &fields); err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, fields)
	}
	if got := j.said(t); !reflect.DeepEqual(got, wanted) {
		t.Errorf("%s: the log says %v, want %v", when, got, wanted)
	}
}

// A line names the client if it has a name, and has the fields that are known.
func TestTheFieldsOfALine(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		var j journal
		for client, field := range map[string]string{"": "", "a": `,"client":"a"`} {
			l := New(zerolog.New(&j), client)
			line := func(fields func(*zerolog.Event)) { l.Log(zerolog.InfoLevel, "line", fields) }
			want := func(fields string) {
				t.Helper()
				j.want(t, fields, `{"level":"info","message":"line"`+field+fields+`}`)
			}
			line(nil)
			want("")
			line(func(e *zerolog.Event) { AddSession(e, 3, 0) })
			want(`,"session":3`)
			line(func(e *zerolog.Event) { AddSession(e, 3, -1) })
			want(`,"session":3,"zk_session":"0xffffffffffffffff"`)
			line(func(e *zerolog.Event) { AddSession(e, 0, 1) })
			want(`,"session":0,"zk_session":"0x1"`)
			line(func(e *zerolog.Event) { AddPause(e, 0) })
			want("")
			line(func(e *zerolog.Event) { AddPause(e, 1500*time.Microsecond) })
			want(`,"paused_ms":1`)
			line(func(e *zerolog.Event) { AddInstant(e, "at", time.Unix(0, 5e6).UTC()) })
			want(`,"at":"1970-01-01T00:00:00.005Z"`)
			line(func(e *zerolog.Event) { AddErr(AddErr(e, nil), errors.New("why")) })
			want(`,"error":"why"`)
		}
	})
}

// Lines below the level take no room: none is dropped because of them, however slow the logger is.
func TestLinesBelowTheLevelTakeNoRoom(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := &heldWriter{release: make(chan bool)}
		l := New(zerolog.New(w).Level(zerolog.WarnLevel), "")
		l.Log(zerolog.WarnLevel, "held", nil)
		for range manyLines {
			l.Log(zerolog.InfoLevel, "a line", nil)
		}
		close(w.release)
		if l.Flush(); l.Dropped.Load() != 0 || len(w.lines) != 1 {
			t.Errorf("%d lines were dropped, %d written", l.Dropped.Load(), len(w.lines))
		}
	})
}

// A user's function that panics is named with its path, and what follows gets the error.
func TestAFunctionThatPanicsIsLogged(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		var j journal
		l, then := New(zerolog.New(&j), ""), 0
		for _, c := range []struct {
			path string
			f    func() error
			want []string
		}{
			{"/a", func() error { panic("why\n") }, []string{"OnElected panicked", "/a", `why\n`}},
			{"", func() error { panic("why") }, []string{"OnElected panicked", "<nil>", "why"}},
			{"/a", func() error { return errors.New("an error") }, nil},
		} {
			l.Guard("OnElected", c.path, c.f, func(err error) {
				if then++; err == nil {
					t.Error("there is no error")
				}
			})
			var got []string
			for _, line := range j.said(t) {
				if line["level"] != "error" || fmt.Sprint(line["stack"]) == "" {
					t.Errorf("%v", line)
				}
				got = append(got, fmt.Sprint(line["message"]), fmt.Sprint(line["path"]), fmt.Sprint(line["panic"]))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		}
		if then != 3 {
			t.Errorf("%d of 3 functions were followed", then)
		}
	})
}

// A logger that panics, or ends the goroutine, is reported to zerolog's handler.
func TestALoggerThatPanicsIsReported(t *testing.T) {
	var reported []string
	before := zerolog.ErrorHandler
	zerolog.ErrorHandler = func(err error) { reported = append(reported, err.Error()) }
	defer func() { zerolog.ErrorHandler = before }()
	reportLostLine(&usercode.Error{Panic: "why", Stack: []byte("stack")})
	reportLostLine(&usercode.Error{})
	if len(reported) != 2 || !strings.Contains(reported[0], "panicked, and a line is lost: why\nstack") ||
		!strings.Contains(reported[1], "failed, and a line is lost") {
		t.Errorf("%q", reported)
	}
}

// What a line passes over is said once for each directory and kind of name, and not more often than so many times.
func TestWhatIsPassedOverIsSaidOnce(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		var j journal
		var p PassedOver
		l := New(zerolog.New(&j), "")
		said := func(path string, names ...string) (all []string) {
			p.Log(l, events.Notify{Path: path, Names: names}, "mine-")
			for _, line := range j.said(t) {
				if line["message"] != "passed over" || line["path"] != path ||
					(line["hint"] != nil) != (line["level"] == "warn") {
					t.Errorf("%v", line)
				}
				all = append(all, fmt.Sprint(line["level"], " ", line["child"]))
			}
			return all
		}
		for _, c := range []struct {
			path  string
			names []string
			want  []string
		}{
			{"/a", []string{"mine-0000000001"}, nil},
			{"/a", []string{"config"}, []string{"info config"}},
			{"/a", []string{"config", "config"}, nil},
			{"/b", []string{"config", "other-0000000007"}, []string{"info config", "warn other-0000000007"}},
			{"/b", []string{"other-0000000008"}, nil},
		} {
			if got := said(c.path, c.names...); !slices.Equal(got, c.want) {
				t.Errorf("%q in %s: %q, want %q", c.names, c.path, got, c.want)
			}
		}
		for i := len(p); i < maxPassedOver; i++ {
			if got := said(fmt.Sprint("/", i), "config"); len(got) != 1 {
				t.Fatalf("after %d: %q", i, got)
			}
		}
		if got := said("/more", "config"); got != nil || len(p) != maxPassedOver {
			t.Errorf("%q, after %d", got, len(p))
		}
	})
}
