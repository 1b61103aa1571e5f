package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// CheckPath returns what is wrong with the path of a line, or with the prefixes of plain
// elections, and what would be right: the error that Latch, Selector, Election and Line
// would return, before there is a Client.
func CheckPath(path string, prefixes ...string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	for _, prefix := range prefixes {
		if err := checkPrefix(path, prefix); err != nil {
			return err
		}
	}
	return nil
}

func checkPath(path string) error {
	switch {
	case path == "":
		return errors.New("incumbent: the path is empty: name the line's directory, as in /jobs/nightly")
	case path == "/":
		return errors.New("incumbent: the path is the root: a line needs a directory of its own, as in /jobs/nightly")
	case strings.Trim(path, "/") == "":
		return fmt.Errorf("incumbent: path %s has no name in it: a line needs a directory of its own, as in "+
			"/jobs/nightly", fault.Quoted(path))
	}
	if strings.HasPrefix(path, "/zookeeper/") || path == "/zookeeper" {
		return errors.New("incumbent: /zookeeper is the ensemble's own: name another directory, as in /jobs/nightly")
	}
	return checkNode(path)
}

// checkNode returns what is wrong with the path of any node.
func checkNode(path string) error {
	switch {
	case path == "":
		return errors.New("incumbent: the path is empty: want one like /app/config")
	case path == "/":
		return nil
	case !strings.HasPrefix(path, "/"):
		return fmt.Errorf("incumbent: path %s does not begin with a slash: want /%s", fault.Quoted(path),
			fault.Path(path))
	case strings.HasSuffix(path, "/"):
		return fmt.Errorf("incumbent: path %s ends with a slash: want %s", fault.Quoted(path),
			fault.Path(strings.TrimRight(path, "/")))
	}
	for _, part := range strings.Split(path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("incumbent: path %s has the empty or relative part %q, which ZooKeeper does not allow",
				fault.Quoted(path), part)
		}
	}
	if i := strings.IndexFunc(path, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
	}); i >= 0 {
		return fmt.Errorf("incumbent: path %s has a character at byte %d that ZooKeeper does not allow",
			fault.Quoted(path), i)
	}
	return nil
}

// checkParent returns what is wrong with the path of a node that may end in a slash.
func checkParent(path string) error {
	if path == "/" {
		return nil
	}
	return checkNode(strings.TrimSuffix(path, "/"))
}

// checkNamed returns an error if the path of a create has no name at its end: for a
// sequential node the number is the name.
func checkNamed(op events.Op) error {
	switch {
	case sequential[op.Mode] || !strings.HasSuffix(op.Path, "/"):
		return nil
	case op.Path == "/":
		return errors.New("incumbent: the root is there already; it can be neither created nor deleted")
	}
	return fmt.Errorf("incumbent: path %s ends with a slash: want %s, or a sequential node", fault.Quoted(op.Path),
		fault.Path(strings.TrimRight(op.Path, "/")))
}

func checkPrefix(path, prefix string) error {
	switch {
	case strings.Contains(prefix, "/"):
		return fmt.Errorf("incumbent: the prefix %s has a slash in it: put the directory into the path",
			fault.Quoted(prefix))
	case strings.HasPrefix(prefix, machines.GUIDPrefix):
		return fmt.Errorf("incumbent: the prefix %s begins like a name with a GUID: use a Latch or Selector, or "+
			"another prefix", fault.Quoted(prefix))
	}
	if err := checkPath(path + "/" + prefix + "0"); err != nil {
		return fmt.Errorf("incumbent: the prefix %s has a character in it that ZooKeeper does not allow",
			fault.Quoted(prefix))
	}
	return nil
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
var ownPackage = reflect.TypeFor[Error]().PkgPath() + "."

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
			errs = append(errs, fmt.Errorf("incumbent: %s is %v: want more, or 0 for the default", name,
				value.Interface()))
		}
	}
	return fault.Together(errs...)
}

// checkOp returns what is wrong with the path of one operation of a multi.
func checkOp(op events.Op) error {
	if op.Verb != "create" {
		return checkNode(op.Path)
	}
	return cmp.Or(checkParent(op.Path), checkNamed(op))
}
