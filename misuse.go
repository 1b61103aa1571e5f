package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/internal/fault"
)

// opened panics if Open did not return the Client. A handle that no client made has such a
// Client: nil.
func (c *Client) opened() {
	if c == nil || c.closed == nil {
		misuse("was called on a zero value or without a client: Open makes a Client, and the Client makes handles")
	}
}

// check calls opened, and panics if the context is nil.
func (c *Client) check(ctx context.Context) {
	c.opened()
	needContext(ctx)
}

func needContext(ctx context.Context) {
	if ctx == nil {
		misuse("needs a context: context.Background() will do")
	}
}

// misuse panics with the name of the exported call that was made in a way that is never
// right.
func misuse(text string) { panic("incumbent: " + exportedCall() + " " + text) }

// ownPackage is what the names of this package's functions begin with, as the runtime has
// them.
var ownPackage = reflect.TypeFor[Client]().PkgPath() + "."

// exportedCall returns the function or method of this package that a program called, as
// "Mutex.Lock", or only "Background" if the type of the method is not exported.
func exportedCall() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	call := "a call"
	for {
		frame, more := frames.Next()
		name, ours := strings.CutPrefix(frame.Function, ownPackage)
		if !ours { // the program's
			return call
		}
		call = cmp.Or(exportedIn(name), call)
		if !more {
			return call
		}
	}
}

// exportedIn returns the exported call in a function's name as the runtime has it:
// "(*Mutex).Lock", "(*queue[...]).AtLeastOnce", "NewQueue[...]",
// "(*SharedCount).Watch.func1".
func exportedIn(name string) string {
	name = strings.NewReplacer("(*", "", ")", "", "[...]", "").Replace(name)
	of, method, is := strings.Cut(name, ".")
	method, _, _ = strings.Cut(method, ".")
	exported := func(s string) bool {
		first, _ := utf8.DecodeRuneInString(s)
		return unicode.IsUpper(first)
	}
	switch {
	case is && exported(method) && exported(of):
		return of + "." + method
	case is && exported(method):
		return method
	case exported(of) && !exported(method) && (!is || strings.HasPrefix(method, "func")):
		return of
	}
	return ""
}

// checkOptions returns an error that names the options which cannot be right: a time, a
// number or a retry policy below zero, unless the field's tag "negative" says what that
// means.
func checkOptions(options any) error {
	v := reflect.ValueOf(options)
	var errs []error
	for i := range v.NumField() {
		if v.Field(i).IsZero() { // it says nothing
			continue
		}
		field, value := v.Type().Field(i), v.Field(i)
		if !field.IsExported() {
			continue
		}
		of, _, _ := strings.Cut(v.Type().Name(), "[") // without a type parameter
		name := of + "." + field.Name
		switch policy, ok := value.Interface().(RetryPolicy); {
		case ok:
			if err := policy.policy.Check(); err != nil {
				errs = append(errs, fmt.Errorf("incumbent: %s: %w", name, err))
			}
		case field.Anonymous:
			errs = append(errs, checkOptions(value.Interface()))
		case value.CanInt() && value.Int() < 0 && field.Tag.Get("negative") == "":
			errs = append(errs, fmt.Errorf("incumbent: %s is %v: want more, or 0 for the default", name, value.Interface()))
		}
	}
	return fault.Together(errs...)
}
