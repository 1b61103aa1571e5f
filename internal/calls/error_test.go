package calls

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
)

// The error of a call says what was called, why it had no result yet and what ended it, and each is found in it. What
// the ensemble refuses is returned as it is.
func TestExplain(t *testing.T) {
	cause, waiting, absent := errors.New("gone"), errors.New("waiting"), errors.New("incumbent: no server")
	refused := errors.New("incumbent: NONODE: /a")
	ended, end := context.WithCancelCause(t.Context())
	end(cause)
	for _, c := range []struct {
		ctx      context.Context
		err, why error
		want     string
		is       []error
	}{
		{t.Context(), nil, waiting, "<nil>", nil},
		{t.Context(), refused, waiting, "incumbent: NONODE: /a", []error{refused}},
		{ended, refused, waiting, "incumbent: NONODE: /a", []error{refused}},
		{t.Context(), fault.ErrClosed, waiting, "incumbent: await /a: closed", []error{fault.ErrClosed}},
		{t.Context(), zkio.ErrNotConnected, waiting, "incumbent: await /a: no server", []error{absent}},
		{ended, cause, waiting, "incumbent: await /a: waiting: gone", []error{cause, waiting, context.Canceled}},
		{ended, cause, nil, "incumbent: await /a: gone", []error{cause, context.Canceled}},
		{ended, fault.Joined(zkio.ErrOutcomeUnknown, cause), waiting,
			"incumbent: await /a: " + fault.WithoutPackage(zkio.ErrOutcomeUnknown) + ": waiting: gone",
			[]error{zkio.ErrOutcomeUnknown, waiting, cause, context.Canceled}},
		{ended, zkio.ErrOutcomeUnknown, waiting,
			"incumbent: await /a: " + fault.WithoutPackage(zkio.ErrOutcomeUnknown) + ": waiting: gone",
			[]error{zkio.ErrOutcomeUnknown, waiting, cause, context.Canceled}},
	} {
		why, absence := func() error { return c.why }, func() error { return absent }
		err := Explain(c.ctx, "await", "/a", c.err, why, absence)
		if text(err) != c.want || slices.ContainsFunc(c.is, func(is error) bool { return !errors.Is(err, is) }) {
			t.Errorf("%v is explained as %v, want %s, which is %v", c.err, err, c.want, c.is)
		}
		if c.ctx == ended && c.want != refused.Error() {
			again := Explain(c.ctx, "run", "/b", err, why, absence)
			if !errors.Is(again, context.Canceled) || !errors.Is(again, cause) {
				t.Errorf("explained again: %v", again)
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return "<nil>"
	}
	return err.Error()
}

// The path stands once in the text, and the error of a call that another one made gets that one's name.
func TestErrorsOfCalls(t *testing.T) {
	inner := AsError("lock", "/a", errors.New("incumbent: /a: held: /a"))
	for want, err := range map[string]error{
		"incumbent: lock /a: held":              inner,
		"incumbent: set limit /b: /a: held: /a": Renamed("set limit", "/b", inner),
		"plain":                                 Renamed("set limit", "/b", errors.New("plain")),
		"incumbent: probe: plain":               AsError("probe", "", errors.New("plain")),
		"incumbent: /b: plain":                  AsError("", "/b", errors.New("plain")),
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// A call that has not begun says what it would have waited for.
func TestNotAsked(t *testing.T) {
	guard := async.NewContextMutex()
	if err := NotAsked(guard)(); err.Error() != NotBegun().Error() {
		t.Error(err)
	}
	guard.Wait()
	if err := NotAsked(guard)(); err.Error() == NotBegun().Error() {
		t.Error(err)
	}
}
