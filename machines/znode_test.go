package machines

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const someGUID = "0f8fad5b-d9cb-469f-a165-70867728950e"

func TestParseKazoosPlaces(t *testing.T) {
	hex := strings.ReplaceAll(someGUID, "-", "")
	for name, want := range map[string]Place{
		hex + "__lock__0000000007":      {GUID: someGUID, Sequence: 7},
		hex + "__lock__-2147483648":     {GUID: someGUID, Sequence: -2147483648},
		"a__lock____lock__0000000001":   {Sequence: 1},
		"__lock__0000000001":            {Sequence: 1},
		hex[1:] + "g__lock__0000000007": {Sequence: 7},
	} {
		want.Name, want.Label = name, KazooLabel
		if got, ok := ParsePlace(name, KazooLabel); !ok || got != want {
			t.Errorf("%q: %+v, %t, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", hex, hex + "__lock__", hex + "__lock__7", hex + "__rlock__0000000007", hex + "__lock__0000000007x",
		"_c_" + someGUID + "-lock-0000000007"} {
		if got, ok := ParsePlace(name, KazooLabel); ok {
			t.Errorf("%q was taken for a place: %+v", name, got)
		}
	}
	if p, ok := ParsePlace(ownPrefix(someGUID, KazooLabel)+"0000000003", KazooLabel); !ok || p.GUID != someGUID {
		t.Errorf("our own name: %+v, %t", p, ok)
	}
}

func TestParsePlace(t *testing.T) {
	for name, want := range map[string]Place{
		"latch-0000000007":                     {Sequence: 7},
		"latch-2147483647":                     {Sequence: 2147483647},
		"latch--2147483648":                    {Sequence: -2147483648},
		"latch--000000001":                     {Sequence: -1},
		"_c_" + someGUID + "-latch-0000000007": {GUID: someGUID, Sequence: 7},
		"_c_" + strings.ToUpper(someGUID) + "-latch-0000000001": {GUID: strings.ToUpper(someGUID), Sequence: 1},
	} {
		want.Name, want.Label = name, LatchLabel
		if got, ok := ParsePlace(name, LatchLabel); !ok || got != want {
			t.Errorf("%q: %+v, %t, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{
		"", "0", "latch", "latch-", "latch-7", "latch-00000000070", "latch-000000007", "latch-+000000007", "latch- 000000007",
		"latch-2147483648", "latch-9999999999", "latch--2147483649", "latch--00000001", "latch-0x00000007", "latch-0000_00007",
		"lock-0000000007", "Latch-0000000007", "xlatch-0000000007", "latch-0000000007x",
		"_c_short", "_c_", "_c_latch-0000000007", "_c_" + someGUID, "_c_" + someGUID + "-", "_c_" + someGUID + "latch-0000000007",
		"_c_" + someGUID + "-lock-0000000007", "_c_" + someGUID[:35] + "-latch-0000000007", "_c_" + someGUID[:35] + "g-latch-0000000007",
		"_c_" + strings.ReplaceAll(someGUID, "-", "0") + "-latch-0000000007", "_c_" + someGUID + "-_c_" + someGUID + "-latch-0000000007",
	} {
		if got, ok := ParsePlace(name, LatchLabel); ok {
			t.Errorf("%q was taken for a place: %+v", name, got)
		}
	}
}

func TestWithoutGUID(t *testing.T) {
	for name, want := range map[string]string{
		"_c_0f1e2d3c-4b5a-4988-8776-655443322110-latch-0000000007": "latch-0000000007",
		"latch-0000000007":                "latch-0000000007",
		"_c_no-guid-latch-0000000007":     "_c_no-guid-latch-0000000007",
		"_c_0f1e2d3c-4b5a-4988-8776-6554": "_c_0f1e2d3c-4b5a-4988-8776-6554",
	} {
		if got := WithoutGUID(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestLineOrdersByNumber(t *testing.T) {
	children := []string{"latch-0000000010", "foreign", "_c_" + someGUID + "-latch-0000000009", "latch--2147483648", "latch-2147483647", "lock-0000000000", "latch-0000000009", "latch--000000001"}
	line, foreign := Line(children, LatchLabel)
	var got []string
	for _, p := range line {
		got = append(got, p.Name)
	}
	want := []string{"latch--2147483648", "latch--000000001", "_c_" + someGUID + "-latch-0000000009", "latch-0000000009", "latch-0000000010", "latch-2147483647"}
	if !slices.Equal(got, want) || foreign != 2 {
		t.Errorf("%v, %d foreign, want %v, 2", got, foreign, want)
	}
}

func TestEnded(t *testing.T) {
	for sequence, want := range map[int64]bool{0: false, lastSequence - 1: false, lastSequence: true, 1<<31 - 1: true, -1: true, -1 << 31: true} {
		if got := (Place{Sequence: sequence}).ended(); got != want {
			t.Errorf("%d: %t", sequence, got)
		}
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string][]string{"/": nil, "/a": {"/a"}, "/a/b/c": {"/a", "/a/b", "/a/b/c"}} {
		if got := ancestors(path); !slices.Equal(got, want) {
			t.Errorf("ancestors of %s: %v", path, got)
		}
	}
	if join("/", "a") != "/a" || join("/a", "b") != "/a/b" || base("/a/b") != "b" || base("/a") != "a" {
		t.Error("join or base")
	}
}

func TestNamesAndJitterComeFromTheSeed(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for n := range uint64(1000) {
		g := guid("seed", n)
		if !form.MatchString(g) || seen[g] || g != guid("seed", n) || !isGUID(g) {
			t.Fatalf("guid %d: %s", n, g)
		}
		seen[g] = true
	}
	a, b, other := newJitter("seed"), newJitter("seed"), newJitter("other")
	same := 0
	for range 1000 {
		x := a.next()
		if x < 0 || x >= 1 || x != b.next() {
			t.Fatal("the same seed gives other numbers")
		}
		if x == other.next() {
			same++
		}
	}
	if same > 0 {
		t.Error("two seeds give the same numbers")
	}
}

// FuzzParsePlace checks that a parsed place has its name when it is written again, and that sorting a
// line loses nothing.
func FuzzParsePlace(f *testing.F) {
	for _, name := range []string{"latch-0000000007", "latch--2147483648", "_c_" + someGUID + "-latch-0000000007", "_c_short", "0", "latch-7", "_c_" + someGUID + "-latch-", "\x00latch-0000000001", "latch-٠١٢٣٤"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, ok := ParsePlace(name, LatchLabel)
		line, foreign := Line([]string{name, "latch-0000000001"}, LatchLabel)
		if len(line)+foreign != 2 {
			t.Fatalf("%q: %d places, %d foreign", name, len(line), foreign)
		}
		if !ok {
			return
		}
		again := LatchLabel + fmt.Sprintf("%010d", p.Sequence)
		if p.GUID != "" {
			again = GUIDPrefix + p.GUID + "-" + again
		}
		if again != name || p.Sequence < -1<<31 || p.Sequence >= 1<<31 {
			t.Fatalf("%q was read as %+v, which is written %q", name, p, again)
		}
	})
}
