package slogger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/rs/zerolog"
)

// catcher is a handler that keeps its records.
type catcher struct {
	mu      sync.Mutex
	least   slog.Level
	records []slog.Record
	fails   error
	panics  any
}

func (c *catcher) Enabled(ctx context.Context, level slog.Level) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ctx == context.Background() && level >= c.least
}

func (c *catcher) Handle(ctx context.Context, r slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.panics != nil {
		panic(c.panics)
	}
	if ctx != context.Background() {
		return errors.New("not context.Background")
	}
	c.records = append(c.records, r)
	return c.fails
}

func (c *catcher) WithAttrs([]slog.Attr) slog.Handler { panic("slogger adds no attributes") }
func (c *catcher) WithGroup(string) slog.Handler      { panic("slogger adds no group") }

// last returns the only record, and its attributes.
func (c *catcher) last(t *testing.T) (slog.Record, []slog.Attr) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.records) != 1 {
		t.Fatalf("%d records, want 1", len(c.records))
	}
	return c.records[0], attrsOf(c.records[0])
}

func attrsOf(r slog.Record) (attrs []slog.Attr) {
	r.Attrs(func(a slog.Attr) bool { attrs = append(attrs, a); return true })
	return attrs
}

// catchErrors returns what zerolog reports as lost while the test runs.
func catchErrors(t *testing.T) *[]error {
	var got []error
	before := zerolog.ErrorHandler
	zerolog.ErrorHandler = func(err error) { got = append(got, err) }
	t.Cleanup(func() { zerolog.ErrorHandler = before })
	return &got
}

func TestLevels(t *testing.T) {
	for level, want := range map[zerolog.Level]slog.Level{
		zerolog.TraceLevel: -8, zerolog.DebugLevel: slog.LevelDebug, zerolog.InfoLevel: slog.LevelInfo,
		zerolog.WarnLevel: slog.LevelWarn, zerolog.ErrorLevel: slog.LevelError,
		zerolog.FatalLevel: 12, zerolog.PanicLevel: 12, zerolog.NoLevel: slog.LevelInfo, 9: 12,
	} {
		c := &catcher{least: want}
		log := New(c)
		log.WithLevel(level).Msg("text")
		if r, attrs := c.last(t); r.Level != want || r.Message != "text" || len(attrs) != 0 {
			t.Errorf("%s: %v with %v", level, r, attrs)
		}
		c = &catcher{least: want + 1}
		log = New(c)
		if e := log.WithLevel(level); e != nil {
			t.Errorf("%s: fields are encoded for a handler that does not want them", level)
		}
	}
}

// A level that changes at run time decides the next line.
func TestTheLevelMayChange(t *testing.T) {
	var out bytes.Buffer
	level := new(slog.LevelVar)
	log := New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))
	log.Debug().Msg("one")
	level.Set(slog.LevelDebug)
	log.Debug().Msg("two")
	level.Set(slog.LevelWarn)
	log.Info().Msg("three")
	if got := out.String(); strings.Contains(got, "one") || !strings.Contains(got, "two") ||
		strings.Contains(got, "three") {
		t.Errorf("logged %q", got)
	}
}

// zerolog does not sample after DisableSampling(true): the handler still decides.
func TestDisabledSampling(t *testing.T) {
	zerolog.DisableSampling(true)
	defer zerolog.DisableSampling(false)
	c := &catcher{least: slog.LevelWarn}
	log := New(c)
	log.Info().Msg("not wanted")
	log.Warn().Msg("wanted")
	if r, _ := c.last(t); r.Message != "wanted" {
		t.Errorf("logged %q", r.Message)
	}
}

func TestValuesKeepTheirTypesAndOrder(t *testing.T) {
	c := &catcher{}
	log := New(c)
	log.Info().
		Int64("session", 0x7fff_ffff_ffff_fff1).Int64("least", math.MinInt64).Int("small", -1).
		Uint64("big", math.MaxUint64).Float64("half", 0.5).Float64("tiny", 5e-324).
		Bool("yes", true).Str("text", "a\n\"b\" é\x00").Err(errors.New("why")).
		Interface("none", nil).RawJSON("huge", []byte("123456789012345678901234567890")).
		RawJSON("far", []byte("1e999")).RawJSON("whole", []byte("1.0")).
		Dict("dict", zerolog.Dict().Int("z", 1).Dict("inner", zerolog.Dict().Str("a", "b"))).
		Dict("empty", zerolog.Dict()).
		RawJSON("list", []byte(`[1, 18446744073709551615, "b", null, true, 1.5, [], {"x": {"y": [2]}}]`)).
		Str("message", "mine").Str("level", "mine").Str("session", "again").
		Msg("leading")
	want := []slog.Attr{
		slog.Int64("session", 0x7fff_ffff_ffff_fff1), slog.Int64("least", math.MinInt64), slog.Int64("small", -1),
		slog.Uint64("big", math.MaxUint64), slog.Float64("half", 0.5), slog.Float64("tiny", 5e-324),
		slog.Bool("yes", true), slog.String("text", "a\n\"b\" é\x00"), slog.String("error", "why"),
		slog.Any("none", nil), slog.String("huge", "123456789012345678901234567890"),
		slog.String("far", "1e999"), slog.Float64("whole", 1),
		slog.Group("dict", slog.Int64("z", 1), slog.Group("inner", slog.String("a", "b"))),
		slog.Any("empty", map[string]any{}),
		slog.Any("list",
			[]any{int64(1), uint64(math.MaxUint64), "b", nil, true, 1.5, []any{},
				map[string]any{"x": map[string]any{"y": []any{int64(2)}}}}),
		slog.String("message", "mine"), slog.String("level", "mine"), slog.String("session", "again"),
	}
	r, got := c.last(t)
	if r.Message != "leading" || r.Level != slog.LevelInfo || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\n%v\nwant\n%v", r.Message, got, want)
	}
}

// What slog's own handlers print of a line.
func TestSlogsHandlersPrintIt(t *testing.T) {
	noTime := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	opts := &slog.HandlerOptions{Level: slog.LevelDebug - 4, ReplaceAttr: noTime}
	for _, c := range []struct {
		write      func(zerolog.Logger)
		json, text string
	}{
		{
			func(l zerolog.Logger) {
				l.Warn().Str("path", "/a b").Int64("session", math.MinInt64+1).Msg("not connected")
			},
			`{"level":"WARN","msg":"not connected","by":"h","g":{"path":"/a b","session":-9223372036854775807}}`,
			`level=WARN msg="not connected" by=h g.path="/a b" g.session=-9223372036854775807`,
		},
		{
			func(l zerolog.Logger) {
				l.Trace().Dict("d", zerolog.Dict().Bool("b", false)).Ints("list", []int{1, 2}).Send()
			},
			`{"level":"DEBUG-4","msg":"","by":"h","g":{"d":{"b":false},"list":[1,2]}}`,
			`level=DEBUG-4 msg="" by=h g.d.b=false g.list="[1 2]"`,
		},
		{
			func(l zerolog.Logger) { l.WithLevel(zerolog.FatalLevel).Dict("none", zerolog.Dict()).Msg("end") },
			`{"level":"ERROR+4","msg":"end","by":"h","g":{"none":{}}}`,
			`level=ERROR+4 msg=end by=h g.none=map[]`,
		},
	} {
		var j, x bytes.Buffer
		own := []slog.Attr{slog.String("by", "h")}
		c.write(New(slog.NewJSONHandler(&j, opts).WithAttrs(own).WithGroup("g")))
		c.write(New(slog.NewTextHandler(&x, opts).WithAttrs(own).WithGroup("g")))
		if got := strings.TrimSpace(j.String()); got != c.json {
			t.Errorf("JSON\n%s\nwant\n%s", got, c.json)
		}
		if got := strings.TrimSpace(x.String()); got != c.text {
			t.Errorf("text\n%s\nwant\n%s", got, c.text)
		}
	}
}

func TestTheTimeIsTheLinesOwn(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 678901234, time.FixedZone("", 3600))
	format := zerolog.TimeFieldFormat
	defer func() { zerolog.TimeFieldFormat = format }()
	for as, unit := range map[string]time.Duration{
		time.RFC3339: time.Second, time.RFC3339Nano: 1, zerolog.TimeFormatUnix: time.Second,
		zerolog.TimeFormatUnixMs:    time.Millisecond,
		zerolog.TimeFormatUnixMicro: time.Microsecond, zerolog.TimeFormatUnixNano: 1,
	} {
		zerolog.TimeFieldFormat = as
		c := &catcher{}
		log := New(c)
		log.Info().Str("a", "b").Time("time", at).Msg("m")
		if r, attrs := c.last(t); !r.Time.Equal(at.Truncate(unit)) || len(attrs) != 1 {
			t.Errorf("%q: time %s and %v, want %s", as, r.Time, attrs, at.Truncate(unit))
		}
	}
	zerolog.TimeFieldFormat = format
	for _, other := range []any{"noon", 7, true, "0001-01-01T00:00:00Z"} {
		c, before := &catcher{}, time.Now()
		log := New(c)
		log.Info().Interface("time", other).Msg("m")
		if r, attrs := c.last(t); r.Time.Before(before) || r.Time.After(time.Now()) || len(attrs) != 1 ||
			fmt.Sprint(attrs[0].Value.Any()) != fmt.Sprint(other) {
			t.Errorf("%v: time %s and %v", other, r.Time, attrs)
		}
	}
}

func TestAHandlerThatFails(t *testing.T) {
	lost := catchErrors(t)
	c := &catcher{fails: errors.New("disk full")}
	log := New(c)
	log.Info().Msg("one")
	c.panics = "broken"
	log.Info().Msg("two")
	if len(*lost) != 2 || !errors.Is((*lost)[0], c.fails) ||
		!strings.Contains((*lost)[1].Error(), "panicked, and a line is lost: broken\n") {
		t.Fatalf("reported %v", *lost)
	}
	log = New(panicsOnEnabled{c})
	log.Info().Msg("three")
	if len(*lost) != 3 || !strings.Contains((*lost)[2].Error(), "no level") {
		t.Errorf("reported %v", *lost)
	}
	c.panics, c.fails = nil, nil
	log = New(c)
	log.Info().Msg("four")
	if last := c.records[len(c.records)-1]; last.Message != "four" || len(*lost) != 3 {
		t.Errorf("after a failure: %v and %v", last, *lost)
	}
}

type panicsOnEnabled struct{ *catcher }

func (panicsOnEnabled) Enabled(context.Context, slog.Level) bool { panic("no level") }

func TestNoHandler(t *testing.T) {
	defer func() {
		if p := recover(); !strings.HasPrefix(fmt.Sprint(p), "slogger: New: the slog.Handler is nil") {
			t.Errorf("panicked with %v", p)
		}
	}()
	New(nil)
}

// Lines of several goroutines do not mix, and do not share memory.
func TestSeveralGoroutines(t *testing.T) {
	const writers, lines = 8, 200
	c := &catcher{}
	log := New(c)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range lines {
				text := strings.Repeat(fmt.Sprintf("%d.%d ", w, i), 20)
				log.Info().Str("text", text).Msg(text)
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, r := range c.records {
		if attrs := attrsOf(r); len(attrs) != 1 || attrs[0].Value.String() != r.Message {
			t.Fatalf("%q has %v", r.Message, attrs)
		}
		seen[r.Message] = true
	}
	if len(seen) != writers*lines {
		t.Errorf("%d different lines, want %d", len(seen), writers*lines)
	}
}

// slog's own suite, on lines that slog.JSONHandler wrote: what goes in comes out of a
// second handler. A record without a time gets the time now.
func TestSlogsSuite(t *testing.T) {
	var out *bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out = new(bytes.Buffer)
		return slog.NewJSONHandler(&writer{slog.NewJSONHandler(out, nil)}, nil)
	}, func(t *testing.T) map[string]any {
		var m map[string]any
		if err := json.Unmarshal(out.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if _, ok := m[slog.TimeKey]; !ok {
			t.Errorf("%s has no time", out)
		}
		if strings.HasSuffix(t.Name(), "/zero-time") {
			delete(m, slog.TimeKey)
		}
		return m
	})
}
