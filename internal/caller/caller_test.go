package caller

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

const path = "github.com/incumbent-go/incumbent/internal/caller"

// The names that the runtime gives to functions, and the call that a reader of the documentation knows.
func TestExportedIn(t *testing.T) {
	for name, want := range map[string]string{
		"(*Mutex).Lock": "Mutex.Lock", "Duration.String": "Duration.String", "(*queue[...]).AtLeastOnce": "AtLeastOnce",
		"NewQueue[...]": "NewQueue", "(*SharedCount).Watch.func1": "SharedCount.Watch",
		"NewQueue[...].func2": "NewQueue",
		"Open":                "Open", "Open.func1.2": "Open", "(*Mutex).lock": "", "mutex.lock": "", "open": "",
		"open.func1": "",
		"Öffne":      "Öffne",
		"Job.funnel": "",
	} {
		if got := exportedIn(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// box has methods that may call each other.
type box struct{}

func (box) Inner() {}

// Outer calls a function that is so many frames away from what asks.
//
//go:noinline
func Outer(deep int, call chan<- string) { call <- inner(deep) }

//go:noinline
func inner(deep int) string {
	if deep > 0 {
		return inner(deep - 1)
	}
	return exportedCall(path)
}

// Direct asks by itself.
//
//go:noinline
func Direct(call chan<- string) { call <- exportedCall(path) }

// The call is the outermost exported one, of the nearest 32 frames. Of another package nothing is known.
func TestExportedCall(t *testing.T) {
	call := make(chan string)
	for deep, want := range map[int]string{0: "Outer", 5: "Outer", 30: "Outer", 31: "a call", 100: "a call"} {
		go Outer(deep, call) // nothing of the test is on its stack
		if got := <-call; got != want {
			t.Errorf("%d frames away: %q, want %q", deep, got, want)
		}
	}
	go Direct(call)
	if got := <-call; got != "Direct" {
		t.Errorf("%q", got)
	}
	if got := inner(1); got != "TestExportedCall" {
		t.Errorf("%q", got)
	}
	if got := exportedCall("other"); got != "a call" {
		t.Errorf("%q", got)
	}
}

func work() {}

// A function is named with its file and line; a method value has a name only.
func TestFunctionPlace(t *testing.T) {
	if got := FunctionPlace(work); !strings.HasPrefix(got, "caller.work (caller_test.go:") ||
		strings.Contains(got, ":0)") {
		t.Error(got)
	}
	if got := FunctionPlace(box{}.Inner); got != "caller.box.Inner" {
		t.Error(got)
	}
}

// The place of a call is the first that is not the package's. A stack of nothing else has none.
func TestPlace(t *testing.T) {
	stack := Stack()
	_, _, line, _ := runtime.Caller(0)
	if got, want := placeOf(stack, "other"), "caller_test.go:"+strconv.Itoa(line-1)+" (caller.TestPlace)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := placeOf(stack, path); !strings.HasPrefix(got, "testing.go:") ||
		!strings.HasSuffix(got, " (testing.tRunner)") {
		t.Error(got)
	}
	if got := placeOf(stack[:1], path); got != "an unknown place" {
		t.Error(got)
	}
}

// What lies in the internal folder of a package is its own, and no program's.
func TestInside(t *testing.T) {
	for function, want := range map[string]bool{
		"x/y.Open": true, "x/y.(*Mutex).Lock": true, "x/y/internal/a.Stack": true, "x/y/internal/a/b.(*C).d": true,
		"x/y/z.Open": false, "x/yz.Open": false, "x/y/internals.Open": false, "x.Open": false, "main.main": false,
	} {
		if got := inside(function, "x/y"); got != want {
			t.Errorf("%s: %t, want %t", function, got, want)
		}
	}
}

// A misuse panics with what is missing. Nothing of the root package is on the stack here, so no call has a name.
func TestMisuse(t *testing.T) {
	var none context.Context
	for call, misuse := range map[string]func(){
		"incumbent: a call needs more":                                    func() { Misuse("needs more") },
		"incumbent: a call needs a context: context.Background() will do": func() { NeedContext(none) },
		"<nil>": func() { NeedContext(t.Context()) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != call {
					t.Errorf("%s, want %s", got, call)
				}
			}()
			misuse()
		}()
	}
}
