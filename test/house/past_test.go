package house

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// maxPast is how many calls of the door go past every machine: they are neither drawn nor in the log. All are reads for
// a caller but one, the guarded write of a term. It only falls.
const maxPast = 14

// past names a call of the door that goes past every machine.
func past(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	of, direct := method.X.(*ast.SelectorExpr)
	name := method.Sel.Name
	if slices.Contains([]string{"read", "list", "commit"}, name) ||
		direct && strings.EqualFold(of.Sel.Name, "io") && slices.Contains([]string{"Read", "List", "Commit"}, name) {
		return "calls " + name
	}
	return ""
}

func TestCallsPastTheMachinesBecomeFewer(t *testing.T) {
	var all []string
	for _, f := range files(t) {
		if f.dir != "." || f.test {
			continue
		}
		for _, found := range f.each(past) {
			all = append(all, fmt.Sprintf("%s:%d %s", f.path, f.line(found.at), found.what))
		}
	}
	if len(all) != maxPast {
		t.Errorf("%d calls, and maxPast is %d: ask a machine instead, or lower it\n%s", len(all), maxPast,
			strings.Join(all, "\n"))
	}
	f, err := parse("x.go", `package incumbent
func f(c *Client) { c.core.IO.Commit(nil); c.list(nil); c.core.IO.Execute(nil) }`)
	if err != nil {
		t.Fatal(err)
	}
	if found := f.each(past); len(found) != 2 {
		t.Errorf("found %d of 2 calls", len(found))
	}
}
