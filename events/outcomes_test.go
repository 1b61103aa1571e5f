package events

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"
)

// Only the codes of a list prove that a request was not carried out, and every number without a name is no proof.
func TestOutcomes(t *testing.T) {
	proving := map[int32]bool{0: true, -6: true, -8: true, -101: true, -102: true, -103: true, -108: true, -110: true,
		-111: true, -112: true, -114: true, -115: true, -118: true, -119: true, -120: true, -124: true, -125: true,
		-127: true}
	for number := int32(-140); number <= 10; number++ {
		c := ServerCode(number)
		if c.Unknown() == proving[number] {
			t.Errorf("%d (%s): unknown is %v", number, c, c.Unknown())
		}
		if c.Unknown() && (!c.Transient() || c.Refusal()) {
			t.Errorf("%d (%s): a request that proves nothing may be repeated, and refuses nobody", number, c)
		}
	}
}

// Each number has a name of its own.
func TestServerCodeNames(t *testing.T) {
	numbers := map[Code]int32{}
	for number, c := range serverCodes {
		if other, twice := numbers[c]; twice {
			t.Errorf("%d and %d are both %s", number, other, c)
		}
		numbers[c] = number
	}
	if len(numbers) != 32 || ServerCode(-126) != ServerError {
		t.Errorf("%d names; -126 is %s", len(numbers), ServerCode(-126))
	}
}

// A code that no server answers says itself whether anything was carried out: only one of them leaves it open.
func TestCodesOfThisSideProve(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours := map[Code]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, isValue := n.(*ast.ValueSpec); isValue && len(v.Values) == 1 {
			if text, isText := v.Values[0].(*ast.BasicLit); isText {
				code, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				ours[Code(code)] = true
			}
		}
		return true
	})
	delete(ours, ServerError)
	for c := range maps.Values(serverCodes) {
		delete(ours, c)
	}
	if len(ours) < 30 || !ours[JobRemoved] {
		t.Fatalf("%d codes", len(ours))
	}
	for _, c := range slices.Sorted(maps.Keys(ours)) {
		if c.Unknown() != (c == OutcomeUnknown) {
			t.Errorf("%s: unknown is %t", c, c.Unknown())
		}
	}
}
