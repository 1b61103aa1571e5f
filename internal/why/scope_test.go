package why

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// long is a log of a client that led with a token from one second to another, and went on until 3,000, by one clock for
// all.
func long(t *testing.T, name string, token, from, until, stop int64) *Log {
	t.Helper()
	c := newCrafted(token, from*1000)
	c.records[1].Event.ValidUntil = until * 1000 * ms
	c.stop(token, stop*1000, events.CommandResign)
	c.write(token, 2_999_000, 3_000_000)
	l, err := Read(name, events.Header{Start: "1970-01-01T00:00:00Z"}, &each{c.records})
	if err != nil {
		t.Fatal(err)
	}
	l.Clock = "the same"
	return l
}

// A minute without a move: who led throughout, or that the logs do not have it.
func TestAMinuteWithoutAMove(t *testing.T) {
	for second, want := range map[int64]string{
		120: "No move is in the minute from 1970-01-01 00:02:00 UTC: throughout, a led (token 1); the nearest move " +
			"is shown, and the first line is about it alone.",
		1200: "No move is in the minute from 1970-01-01 00:20:00 UTC: nobody whose log is here led for all of " +
			"it; the nearest",
		9000: "No move is in the minute from 1970-01-01 02:30:00 UTC, and no record: the logs are from 1970-01-01 " +
			"00:00:09 to 1970-01-01 00:50:00 UTC; the nearest",
		300: "",
	} {
		logs := []*Log{long(t, "a", 1, 10, 350, 350), long(t, "b", 2, 500, 2000, 1000)}
		text := strings.Join(Explain(logs, nil, Options{Around: time.Unix(second, 0)}).Lines(false), "\n")
		if !strings.Contains(text, want) || want == "" && strings.Contains(text, "No move") {
			t.Errorf("around %d:\n%s\nwant %s", second, text, want)
		}
	}
}

// Two who led at once are in each minute in which they did, although neither began or ended then.
func TestAMinuteInTheMidstOfTwoAtOnce(t *testing.T) {
	logs := []*Log{long(t, "a", 1, 10, 500, 500), long(t, "b", 2, 100, 900, 900)}
	at := func(o Options) string { return strings.Join(Explain(logs, nil, o).Lines(false), "\n") }
	for _, o := range []Options{{Around: time.Unix(240, 0)}, {Since: time.Unix(240, 0), Until: time.Unix(300, 0)}} {
		if text := at(o); !strings.Contains(text, "TWO AT ONCE") || strings.Contains(text, "No move") {
			t.Errorf("%+v:\n%s", o, text)
		}
	}
}
