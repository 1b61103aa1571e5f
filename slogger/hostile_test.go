package slogger

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// nested returns a JSON object of this depth.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

// A line that is no JSON object is passed on as text, with its level.
func TestLinesThatAreNoObjectArePassedOnAsText(t *testing.T) {
	for _, line := range []string{
		"", "text", "two\nlines", `{"a":1`, `{"a":1}}`, `{"a":1} {"b":2}`, `{"a" 1}`, `{"a":1,}`, `{1:2}`, `[1]`,
		`"text"`, "7", "null",
		"\xff\xfe", "\x00", `{"a":01}`, `{"a":"` + "\n" + `"}`, "\xbfelevel", nested(maxDepth + 1), nested(20_000),
		strings.Repeat("[", 1_000_000),
		`{"a":` + strings.Repeat("[", maxDepth) + "1" + strings.Repeat("]", maxDepth) + `}`,
	} {
		c := &catcher{least: slog.LevelWarn}
		w := &writer{c}
		if n, err := w.WriteLevel(zerolog.WarnLevel, []byte(line+"\n")); n != len(line)+1 || err != nil {
			t.Errorf("%.40q: wrote %d, %v", line, n, err)
		}
		if r, attrs := c.last(t); r.Message != line || r.Level != slog.LevelWarn || len(attrs) != 0 || r.Time.IsZero() {
			t.Errorf("%.40q became %.40q with %v", line, r.Message, attrs)
		}
	}
}

// A line without anything in it is a record without anything in it, of any level.
func TestAnEmptyLine(t *testing.T) {
	for _, level := range []zerolog.Level{zerolog.InfoLevel, zerolog.NoLevel} {
		c := &catcher{}
		w := &writer{c}
		if n, err := w.WriteLevel(level, []byte("{}")); n != 2 || err != nil {
			t.Errorf("%s: wrote %d, %v", level, n, err)
		}
		if r, attrs := c.last(t); r.Message != "" || len(attrs) != 0 {
			t.Errorf("%s: became %q with %v", level, r.Message, attrs)
		}
	}
}

func TestTheDeepestLineThatIsRead(t *testing.T) {
	c := &catcher{}
	w := &writer{c}
	_, _ = w.Write([]byte(nested(maxDepth)))
	if r, attrs := c.last(t); r.Message != "" || len(attrs) != 1 ||
		!strings.HasSuffix(attrs[0].Value.String(), "[a=1]"+strings.Repeat("]", maxDepth-2)) {
		t.Errorf("became %q with %v", r.Message, attrs)
	}
}

// Any line is one record, and what is in it is printed.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"level":"info","session":-7,"path":"/a","message":"m"}`,
		`{"level":1,"time":"2030-01-01T00:00:00Z","message":7}`,
		`{"":null,"":{"":[{}]}}`, `{"a":{"a":1,"a":2},"time":5,"time":"x"}`, "text", `{"a":1e999}`, "{\"a\":\"\xff\"}",
		nested(maxDepth + 1),
	} {
		f.Add([]byte(line), int8(1))
	}
	f.Fuzz(func(t *testing.T, line []byte, level int8) {
		c := &catcher{least: -1 << 30}
		w := &writer{c}
		given := bytes.Clone(line)
		if n, err := w.WriteLevel(zerolog.Level(level), line); n != len(line) || err != nil ||
			!bytes.Equal(given, line) {
			t.Fatalf("%q: wrote %d, %v", given, n, err)
		}
		r, attrs := c.last(t)
		clear(line) // zerolog uses its memory again
		var object map[string]json.RawMessage
		err := json.Unmarshal(given, &object)
		switch _, tooDeep := parse(given); {
		case err != nil || object == nil || tooDeep != nil:
			if r.Message != strings.TrimSuffix(string(given), "\n") || len(attrs) != 0 {
				t.Errorf("%q became %q with %v", given, r.Message, attrs)
			}
		case len(attrs) < len(object)-3: // all but the level, the time and the message
			t.Errorf("%q became %q with %v", given, r.Message, attrs)
		}
		var out bytes.Buffer
		_ = slog.NewTextHandler(io.Discard, nil).Handle(t.Context(), r)
		if err := slog.NewJSONHandler(&out, nil).Handle(t.Context(), r); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%q is printed as %q, %v", given, &out, err)
		}
	})
}
