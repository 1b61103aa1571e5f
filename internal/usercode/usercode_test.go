package usercode_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/internal/usercode"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever a function does, its caller goes on, and knows what it did.
func TestCall(t *testing.T) {
	own := errors.New("own")
	for name, one := range map[string]struct {
		f    func() error
		want string
	}{
		"returns nil":      {func() error { return nil }, ""},
		"returns an error": {func() error { return own }, "own"},
		"panics":           {func() error { panic("oh") }, "panic: oh"},
		"panics with nil":  {func() error { panic(error(nil)) }, "panic: panic called with nil argument"},
		"ends":             {func() error { runtime.Goexit(); return nil }, "ended its goroutine"},
	} {
		err := usercode.Call(one.f)
		if text := errorText(err); !strings.Contains(text, one.want) || (text == "") != (one.want == "") {
			t.Errorf("%s: %v, want %q", name, err, one.want)
		}
		var failed *usercode.Error
		if errors.As(err, &failed) && failed.Panic != nil && !strings.Contains(string(failed.Stack), "usercode_test") {
			t.Errorf("%s: the stack is %s", name, failed.Stack)
		}
	}
}

// What a message says of a function that did not return names it, and how it ended.
func TestBy(t *testing.T) {
	for want, f := range map[string]func() error{
		"OnFailure panicked: oh":                           func() error { panic("oh") },
		"OnFailure ended its goroutine and did not return": func() error { runtime.Goexit(); return nil },
	} {
		var failed *usercode.Error
		if err := usercode.Call(f); !usercode.Ended(err) || !errors.As(err, &failed) || failed.By("OnFailure") != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
