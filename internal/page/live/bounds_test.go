package live

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A directory is looked at no more often than its reading allows: after five times as long as that took. One that
// cannot be read is read again after ten seconds, also if it looks the same.
func TestWhenADirectoryIsReadAgain(t *testing.T) {
	const took = 10 * time.Millisecond
	dir := t.TempDir()
	same, err := segments.State(dir)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("damaged")
	virtual.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			seen   string
			failed error
			after  time.Duration
			again  bool
		}{
			"other files, early":     {"others", nil, 5*took - 1, false},
			"other files":            {"others", nil, 5 * took, true},
			"the same files":         {same, nil, time.Hour, false},
			"a failure":              {same, failed, retryAfter, false},
			"a failure, later":       {same, failed, retryAfter + 1, true},
			"a failure, other files": {"others", failed, 5 * took, true},
		} {
			d := &directory{path: dir, seen: c.seen, failed: c.failed, at: time.Now(), took: took}
			virtual.Sleep(c.after)
			synctest.Wait()
			if state, again, err := d.changed(); again != c.again || err != nil || again && state != same {
				t.Errorf("%s: read again: %t, %v", name, again, err)
			}
		}
	})
}

// timed keeps the deadline of what is written.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *timed) SetWriteDeadline(t time.Time) error {
	w.until = t
	return nil
}

// An answer may take a minute to be written, whether it is the page or a refusal.
func TestAnAnswerHasAMinute(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		who := Access{Token: NewToken()}
		for path, want := range map[string]bool{who.Token + "/": true, "other/": false} {
			r := httptest.NewRequest(http.MethodGet, "/"+path, nil)
			r.Host = "localhost"
			w := &timed{ResponseRecorder: httptest.NewRecorder()}
			if _, admitted := who.Admit(w, r); admitted != want || time.Until(w.until) != time.Minute {
				t.Errorf("%s: admitted %t, until %s", path, admitted, w.until)
			}
		}
	})
}

// What a page has are numbers of records, each of which fits into 63 bits.
func TestWhatAPageHas(t *testing.T) {
	for text, want := range map[string]have{
		"": {}, "a.1": {"a": 1}, "a.b.1,c.2": {"a.b": 1, "c": 2}, ",a.0,": {"a": 0}, "a%2Cb.3": {"a,b": 3},
		"a.9223372036854775807": {"a": 1<<63 - 1}, "a.9223372036854775808": nil, "a.18446744073709551616": nil,
		"a": nil, "a.": nil, ".1": nil, "a.-1": nil, "a.x": nil, "%zz.1": nil,
	} {
		got, err := readHave(text)
		if !maps.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
		if err == nil {
			if again, err := readHave(got.String()); err != nil || !maps.Equal(again, got) {
				t.Errorf("%q is written as %q: %v, %v", text, got, again, err)
			}
		}
	}
}
