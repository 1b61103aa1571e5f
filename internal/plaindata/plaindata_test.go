package plaindata

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/incumbent-go/incumbent/events"
)

// everything is a model with every kind of field that a model may have.
type everything struct {
	yes         bool
	small       int8
	least       int64
	most        uint64
	word, bytes string
	code        events.Code
	raw, noRaw  []byte
	empty, none []string
	table       map[string]part
	emptyTable  map[events.Code]bool
	noTable     map[string]bool
	tables      []map[string]bool
	pair        [2]part
	nested      [][]int
	id          [2]byte
	events      []events.Event
	part
	root *branch
	same *branch
	left []*branch
}

type part struct {
	Name  string
	items []string
}

// branch is a tree whose nodes know their parents.
type branch struct {
	parent *branch
	kids   []*branch
	leaf   *part
}

func newEverything() *everything {
	m := &everything{noRaw: nil, none: nil, noTable: nil, yes: true, small: -8, least: math.MinInt64,
		most: math.MaxUint64, word: "a\"\\\u2028\u202e\x7f\x00é", bytes: "\xff\x00broken",
		code: events.NoNode, raw: []byte{0, 255}, empty: []string{},
		table:      map[string]part{"b": {"b", nil}, "a": {"", []string{"x", ""}}, "\xfe": {}},
		emptyTable: map[events.Code]bool{}, tables: []map[string]bool{nil, {}, {"a": true}},
		pair: [2]part{{"first", nil}, {"", []string{"x"}}}, id: [2]byte{1, 255}, nested: [][]int{nil, {}, {1, -2}},
		events: []events.Event{
			{Kind: events.ReplyStat, Stat: &events.Stat{Czxid: 7}, Options: map[string]string{"k": "v"}}}}
	m.part.Name = "embedded"
	m.root = &branch{}
	for range 3 {
		m.root.kids = append(m.root.kids, &branch{parent: m.root, leaf: &part{Name: "leaf"}})
	}
	m.root.kids[0].kids = []*branch{{parent: m.root.kids[0]}, nil}
	m.same, m.left = m.root.kids[1], []*branch{m.root.kids[0].kids[0], {parent: m.root}, m.root}
	return m
}

func writtenModel(t *testing.T, m *everything) string { return writtenLike(t, m, nil) }

func writtenLike(t *testing.T, m *everything, example any) string {
	t.Helper()
	w := Writer{}
	w.Model(MustShape[everything](), m, example)
	return `{"model":` + string(w.Out) + "}"
}

func readModel(text string) (*everything, error) { return readLike(text, nil) }

func readLike(text string, example any) (*everything, error) {
	r := &Reader{}
	for _, step := range []func() error{func() error { return r.Begin([]byte(text)) },
		func() error { return r.Key("model") }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	m, err := r.Model(MustShape[everything](), example)
	if err != nil {
		return nil, err
	}
	if err := r.Want('}'); err != nil {
		return nil, err
	}
	return m.(*everything), r.End()
}

// A model is the same after it was written and read: each field, what is nil and what is
// empty, and which pointers point to one thing.
func TestAModelIsTheSameAfterItWasRead(t *testing.T) {
	m := newEverything()
	got, err := readModel(writtenModel(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m, got) || writtenModel(t, got) != writtenModel(t, m) {
		t.Errorf("%s\nbecame\n%s", writtenModel(t, m), writtenModel(t, got))
	}
	mustBeOneTree(t, got)
	zero, err := readModel(writtenModel(t, &everything{}))
	if err != nil || !reflect.DeepEqual(zero, &everything{}) {
		t.Errorf("%+v, %v", zero, err)
	}
}

// A model that is written as a difference to an example is the same after it was read, also
// where it has zeros and the example has not.
func TestAModelLikeAnExample(t *testing.T) {
	m, other := newEverything(), newEverything()
	other.small, other.word, other.pair[0].Name, other.part.Name, other.raw = 0, "", "", "", nil
	for _, c := range [][2]*everything{{m, other}, {other, m}, {m, m}, {&everything{}, m}, {m, &everything{}}} {
		text := writtenLike(t, c[0], c[1])
		got, err := readLike(text, c[1])
		if err != nil || !reflect.DeepEqual(c[0], got) {
			t.Errorf("%s\nwas read as\n%s, %v", text, writtenModel(t, got), err)
		}
		mustShareNothing(t, c[1], got)
	}
	if text := writtenLike(t, m, m); strings.Contains(text, "least") || len(text) > len(writtenModel(t, m))-100 {
		t.Errorf("nothing is left out: %s", text)
	}
}

// mustBeOneTree checks which pointers of newEverything are the same.
func mustBeOneTree(t *testing.T, m *everything) {
	t.Helper()
	for i, same := range []bool{m.same == m.root.kids[1], m.left[0] == m.root.kids[0].kids[0], m.left[2] == m.root,
		m.left[1].parent == m.root,
		m.root.kids[2].parent == m.root, m.root.kids[0].leaf != m.root.kids[1].leaf, m.left[1] != m.root.kids[2]} {
		if !same {
			t.Errorf("the pointers of case %d are not as they were", i)
		}
	}
}

// A copy of a model is equal and shares nothing with it.
func TestACopyOfAModelSharesNothing(t *testing.T) {
	m, untouched := newEverything(), newEverything()
	got := MustShape[everything]().Copy(m).(*everything)
	if !reflect.DeepEqual(m, got) {
		t.Errorf("%s\nbecame\n%s", writtenModel(t, m), writtenModel(t, got))
	}
	mustBeOneTree(t, got)
	if n := mustShareNothing(t, m, got); n < 20 {
		t.Errorf("%d addresses were found", n)
	}
	m.raw[1], m.table["b"], m.nested[2][0], m.root.kids[1].leaf.Name = 7, part{"changed", nil}, 9, "changed"
	if !reflect.DeepEqual(got, untouched) {
		t.Error("a change of the model changed the copy")
	}
}

// mustShareNothing returns how many addresses a model has.
func mustShareNothing(t *testing.T, m, other *everything) int {
	t.Helper()
	seen := map[unsafe.Pointer]string{}
	addresses(reflect.ValueOf(m).Elem(), "m", func(p unsafe.Pointer, path string) { seen[p] = path })
	addresses(reflect.ValueOf(other).Elem(), "other", func(p unsafe.Pointer, path string) {
		if shared, ok := seen[p]; ok {
			t.Errorf("%s shares the memory of %s", path, shared)
		}
	})
	return len(seen)
}

// addresses calls see with the memory of each slice, map and pointer, once.
func addresses(v reflect.Value, path string, see func(unsafe.Pointer, string)) {
	met := map[unsafe.Pointer]bool{}
	var walk func(reflect.Value, string)
	walk = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		case reflect.Slice, reflect.Array:
			if v.Kind() == reflect.Slice && v.Cap() > 0 {
				see(v.UnsafePointer(), path)
			}
			for i := range v.Len() {
				walk(v.Index(i), fmt.Sprint(path, "[", i, "]"))
			}
		case reflect.Map:
			if !v.IsNil() {
				see(v.UnsafePointer(), path)
			}
			for all := v.MapRange(); all.Next(); {
				walk(all.Value(), path+"["+all.Key().String()+"]")
			}
		case reflect.Pointer:
			if !v.IsNil() && !met[v.UnsafePointer()] {
				met[v.UnsafePointer()] = true
				see(v.UnsafePointer(), path)
				walk(v.Elem(), "*"+path)
			}
		}
	}
	walk(v, path)
}

// What is no plain data has no shape, and the error names the field.
func TestModelsArePlainData(t *testing.T) {
	type self struct{ kids []self }
	type deep struct{ part struct{ call func() } }
	_, _ = self{}.kids, deep{}.part.call
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[deep](), "part: call: func() is a func"},
		{reflect.TypeFor[struct{ c chan int }](), "c: chan int is a chan"},
		{reflect.TypeFor[struct{ a any }](), "a: interface {} is a interface"},
		{reflect.TypeFor[struct{ f float64 }](), "f: float64 is a float64"},
		{reflect.TypeFor[struct{ p *int }](), "p: *int does not point to a struct"},
		{reflect.TypeFor[struct{ m map[int]bool }](), "m: the keys of map[int]bool are no strings"},
		{reflect.TypeFor[self](), "plaindata.self contains itself"},
	} {
		if _, err := ShapeOf(c.typ); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.typ, err, c.want)
		}
	}
}

// The digest of a model is another if a field is added, renamed, moved or of another type.
func TestAModelsDigest(t *testing.T) {
	type a struct{ x, y int }
	_, _ = a{}.x, a{}.y
	seen := map[string]string{}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[a](), reflect.TypeFor[struct{ x int }](), reflect.TypeFor[struct{ y, x int }](),
		reflect.TypeFor[struct{ x, y int64 }](), reflect.TypeFor[struct{ x, y []int }](),
		reflect.TypeFor[struct{ x, y map[string]int }](), reflect.TypeFor[struct{ x, y [3]int }](),
		reflect.TypeFor[struct{ x, y [4]int }](), reflect.TypeFor[struct{ x, y *a }](),
		reflect.TypeFor[struct{ x, y a }](), reflect.TypeFor[branch](), reflect.TypeFor[struct{ x, z int }](),
	} {
		s, err := ShapeOf(typ)
		if err != nil {
			t.Fatal(err)
		}
		if other, again := seen[s.Digest()]; again {
			t.Errorf("%s has the digest of %s", typ, other)
		}
		seen[s.Digest()] = typ.String()
	}
	if one, two := MustShape[a]().Digest(), MustShape[struct{ x, y int }]().Digest(); one != two {
		t.Error("the name of a type changes its digest")
	}
}

// Texts that no writer wrote are refused with the place where they are wrong.
func TestAModelThatNobodyWroteIsRefused(t *testing.T) {
	for _, c := range []struct{ model, want string }{
		{`{"yes":1},"objects":[]`, "model: yes: want true or false, found 1"},
		{`{"YES":true},"objects":[]`, "the field YES is unknown, repeated or out of order"},
		{`{"yes":true,"yes":true},"objects":[]`, "the field yes is unknown"},
		{`{"small":3,"yes":true},"objects":[]`, "the field yes is unknown, repeated or out of order"},
		{`{"small":128},"objects":[]`, "model: small: 128 is no integer of 8 bits"},
		{`{"small":1.5},"objects":[]`, "1.5 is no integer"},
		{`{"most":-1},"objects":[]`, "-1 is no integer of 64 bits"},
		{`{"word":{"base64":"*"}},"objects":[]`, "word: no base64"},
		{`{"word":{"other":"*"}},"objects":[]`, `want the key "base64", found other`},
		{`{"word":null},"objects":[]`, "word: want a string, found <nil>"},
		{`{"raw":"AB"},"objects":[]`, "raw: no base64"},
		{`{"empty":"x"},"objects":[]`, "empty: want a list, found x"},
		{`{"table":[["b",{}],["a",{}]]},"objects":[]`, `the key "a" is repeated or out of order`},
		{`{"table":[["a",{}],["a",{}]]},"objects":[]`, `the key "a" is repeated or out of order`},
		{`{"table":[["a",1]]},"objects":[]`, `table: "a": want "{", found 1`},
		{`{"pair":[{}]},"objects":[]`, "pair: 1: "},
		{`{"pair":[{},{},{}]},"objects":[]`, "pair: want \"]\""},
		{`{"root":2},"objects":[{},{}]`, "root: no object has the number 2: want at most 1"},
		{`{"root":-1},"objects":[]`, "no object has the number -1"},
		{`{"root":1},"objects":[]`, "object 1: "},
		{`{"root":1},"objects":[{},{}]`, `want "]"`},
		{`{"root":1},"objects":[{"leaf":1}]`, "object 1: leaf: the object 1 is a branch, want a part"},
		{`{"root":1}`, "want the key \"objects\""},
		{`{"word":"` + "\xff" + `"},"objects":[]`, "not UTF-8"},
		{`{"word":"x`, "unexpected EOF"},
		{`{},"objects":[]}{`, "more follows its end"},
		{`{"table":[` + strings.TrimSuffix(strings.Repeat(`["",{}],`, 9), ",") + `]},"objects":[]`,
			"repeated or out of order"},
		{`{"nested":[` + strings.Repeat("[", 1000), "want an integer, found ["},
	} {
		if m, err := readModel(`{"model":` + c.model + `}`); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want %q", c.model, m, err, c.want)
		}
	}
}

// A text that asks for much more memory than it has bytes is refused.
func TestAModelNeedsMemoryInProportion(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"model":{"events":[{}`)
	for range 10_000 {
		b.WriteString(",{}")
	}
	b.WriteString(`]},"objects":[]}`)
	if _, err := readModel(b.String()); err == nil ||
		!strings.Contains(err.Error(), "more than 64 times the memory of its text") {
		t.Errorf("%v", err)
	}
}

// So does one that asks for it by the values of a map.
func TestAMapNeedsMemoryInProportion(t *testing.T) {
	type tables struct {
		table map[string]struct{ many [1000]int }
	}
	_ = tables{}.table["a"].many
	r := &Reader{}
	if err := r.Begin([]byte(`{"model":{"table":[["a",{}],["b",{}]]},"objects":[]}`)); err != nil {
		t.Fatal(err)
	}
	if err := r.Key("model"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Model(MustShape[tables](), nil); err == nil || !strings.Contains(err.Error(), "more than 64 times") {
		t.Errorf("%v", err)
	}
}

// A text is written as it is where JSON allows that, and quoted otherwise.
func TestTextsAreQuoted(t *testing.T) {
	for text, want := range map[string]string{"a<b": `"a<b"`, "\n": `"\n"`, `\`: `"\\"`, `"`: `"\""`, "é": `"é"`} {
		w := Writer{}
		if w.Value(MustShape[string](), reflect.ValueOf(text)); string(w.Out) != want {
			t.Errorf("%q is written as %s, want %s", text, w.Out, want)
		}
	}
}

// A Writer that compares writes the same for what is empty and what is nil.
func TestAComparisonKnowsNoEmptyLists(t *testing.T) {
	w, nothing := Writer{Compare: true}, Writer{Compare: true}
	w.Model(MustShape[everything](), &everything{empty: []string{}, emptyTable: map[events.Code]bool{}}, nil)
	nothing.Model(MustShape[everything](), &everything{}, nil)
	if string(w.Out) != string(nothing.Out) {
		t.Errorf("%s, want %s", w.Out, nothing.Out)
	}
}
