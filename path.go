package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
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

// Stat is what ZooKeeper has about a node, apart from its data.
type Stat struct {
	Czxid, Mzxid   int64     // transactions that created the node, and that wrote its data last
	Ctime, Mtime   time.Time // when those were, by the ensemble's clock, in UTC
	Version        int32     // how often its data were written
	Cversion       int32     // how often children were created or deleted
	Aversion       int32     // how often its access list was changed
	EphemeralOwner int64     // ZooKeeper's id of the session that owns it; 0 for every other type of node
	DataLength     int32     // bytes
	NumChildren    int32
	Pzxid          int64 // transaction that created or deleted a child last
}

// Node is the result of a read of a node.
type Node struct {
	Data []byte // foreign bytes, as a rule: escape them before showing them
	Stat Stat
}

// sequential are the modes that add a number to the name.
var sequential = map[events.Mode]bool{
	events.PersistentSequential: true, events.EphemeralSequential: true, events.PersistentSequentialTTL: true,
}

// Op is one operation of Client.Multi or Leadership.Write: SetData, CreateNode, DeleteNode
// and CheckVersion return one.
type Op struct {
	Verb    string      // "set", "create", "delete" or "check"
	Path    string      // the node
	Mode    events.Mode // create: the type of node, as in CreateNode
	Data    []byte      // set, create
	Version int32       // set, delete, check: the version that the node must have, or AnyVersion
}

// OpResult is the outcome of one operation of Client.Multi or Leadership.Write.
type OpResult struct {
	Code events.Code // why it was refused, in ZooKeeper's words; empty if it was not
	Path string      // create: the node's real path
	Stat *Stat       // set: the node's new Stat
}

// AnyVersion makes an operation apply to a node of any version. ZooKeeper counts on after 2147483647 at -2147483648, so
// a node that is written often enough has this version itself for one write: no operation alone can depend on that.
const AnyVersion int32 = -1

// SetData replaces a node's data if the node has this version.
func SetData(path string, data []byte, version int32) Op {
	return Op{Verb: "set", Path: path, Data: data, Version: version}
}

// CreateNode creates a persistent node, with the access list of Config.ACL.
func CreateNode(path string, data []byte) Op {
	return Op{Verb: "create", Path: path, Mode: events.Persistent, Data: data}
}

// DeleteNode deletes a node if it has this version.
func DeleteNode(path string, version int32) Op {
	return Op{Verb: "delete", Path: path, Version: version}
}

// CheckVersion makes the whole write depend on a node's version.
func CheckVersion(path string, version int32) Op {
	return Op{Verb: "check", Path: path, Version: version}
}

// event returns the operation as machines and zkio have it.
func (o Op) event() events.Op {
	return events.Op{Verb: o.Verb, Path: o.Path, Mode: o.Mode, Data: o.Data, Version: o.Version}
}

func opEvents(ops []Op) []events.Op {
	all := make([]events.Op, len(ops))
	for i, op := range ops {
		all[i] = op.event()
	}
	return all
}

// opResults returns results as users see them; nil if there are none.
func opResults(results []zkio.OpResult) []OpResult {
	if results == nil {
		return nil
	}
	all := make([]OpResult, len(results))
	for i, r := range results {
		all[i] = OpResult{r.Code, r.Path, (*Stat)(r.Stat)}
	}
	return all
}
