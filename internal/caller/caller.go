// Package caller finds out where a program called this module.
package caller

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// door is the path of this module's root package.
var door = strings.TrimSuffix(reflect.TypeFor[here]().PkgPath(), "/internal/caller")

// here is a type of this package.
type here struct{}

// Misuse panics with the name of the exported call that a program made in a way that is never right.
func Misuse(text string) { panic("incumbent: " + exportedCall(door) + " " + text) }

// NeedContext panics as Misuse does if the context is nil.
func NeedContext(ctx context.Context) {
	if ctx == nil {
		Misuse("needs a context: context.Background() will do")
	}
}

// inside reports whether a function is the package's, or of a package in its internal folder.
func inside(function, of string) bool {
	rest, ours := strings.CutPrefix(function, of)
	return ours && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/internal/"))
}

// exportedCall returns the function or method of a package that a program called, as
// "Mutex.Lock", or only "Background" if the type of the method is not exported.
func exportedCall(of string) string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	call := "a call"
	for {
		frame, more := frames.Next()
		if !inside(frame.Function, of) { // the program's
			return call
		}
		if name, ours := strings.CutPrefix(frame.Function, of+"."); ours {
			call = cmp.Or(exportedIn(name), call)
		}
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
	case exported(method) && exported(of):
		return of + "." + method
	case exported(method):
		return method
	case exported(of) && (!is || strings.HasPrefix(method, "func")):
		return of
	}
	return ""
}

// Stack returns the stack of the present call, without the names, which take longer.
func Stack() []uintptr {
	var pcs [24]uintptr
	n := runtime.Callers(2, pcs[:])
	return append([]uintptr(nil), pcs[:n]...)
}

// afterSlash returns the name of a file without its directory, or of a function without the
// path before its package's name.
func afterSlash(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// FunctionPlace returns the name of a function and where it is, as "main.work (main.go:50)".
// A method value has a name only.
func FunctionPlace(f any) string {
	function := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	name, isMethod := strings.CutSuffix(afterSlash(function.Name()), "-fm")
	if isMethod {
		return name
	}
	file, line := function.FileLine(function.Entry())
	return fmt.Sprintf("%s (%s:%d)", name, afterSlash(file), line)
}

// Place returns where a program called this module, as "main.go:34 (main.lead)". The stack is the module's.
func Place(stack []uintptr) string { return placeOf(stack, door) }

func placeOf(stack []uintptr, of string) string {
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		if !inside(frame.Function, of) {
			return fmt.Sprintf("%s:%d (%s)", afterSlash(frame.File), frame.Line, afterSlash(frame.Function))
		}
		if !more {
			return "an unknown place"
		}
	}
}
