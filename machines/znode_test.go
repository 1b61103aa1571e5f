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
	for _, name := range []string{"", hex, hex + "__lock__", hex + "__lock__7", hex + "__rlock__0000000007",
		hex + "__lock__0000000007x",
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
		"_c_" + strings.ToUpper(someGUID) + "-latch-0000000001": {
			GUID: strings.ToUpper(someGUID), Sequence: 1},
		"_c_" + strings.ReplaceAll(someGUID, "-", "") + "-latch-0000000007": {Sequence: 7}, // go-zookeeper's
		"xlatch-0000000007":                                        {Sequence: 7},
		"latch-latch-0000000007":                                   {Sequence: 7},
		"_c_latch-0000000007":                                      {Sequence: 7},
		"_c_" + someGUID + "latch-0000000007":                      {Sequence: 7},
		"_c_" + someGUID[:35] + "-latch--2147483648":               {Sequence: -2147483648},
		"_c_" + someGUID[:35] + "g-latch-0000000007":               {Sequence: 7},
		"_c_" + someGUID + "-_c_" + someGUID + "-latch-0000000007": {Sequence: 7},
	} {
		want.Name, want.Label = name, LatchLabel
		if got, ok := ParsePlace(name, LatchLabel); !ok || got != want {
			t.Errorf("%q: %+v, %t, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{
		"", "0", "latch", "latch-", "latch-7", "latch-00000000070", "latch-000000007", "latch-+000000007",
		"latch- 000000007", "latch-2147483648", "latch-9999999999", "latch--2147483649", "latch--00000001",
		"latch-0x00000007", "latch-0000_00007", "lock-0000000007", "Latch-0000000007", "latch-0000000007x",
		"latch-0000000007-data", "0000000007", "_c_short", "_c_", "_c_" + someGUID, "_c_" + someGUID + "-",
		"_c_" + someGUID + "-lock-0000000007",
	} {
		if got, ok := ParsePlace(name, LatchLabel); ok {
			t.Errorf("%q was taken for a place: %+v", name, got)
		}
	}
}

// Names as programs make them, and the recipes in whose lines they are.
func TestWhoCountsWhichName(t *testing.T) {
	hex := strings.ReplaceAll(someGUID, "-", "")
	labels := []string{LatchLabel, LockLabel, WriteLabel, ReadLabel, KazooLabel, KazooReadLabel, LeaseLabel, "n_", ""}
	for name, want := range map[string][]string{
		"_c_" + someGUID + "-latch-0000000001": {LatchLabel}, // Curator's LeaderLatch
		// its InterProcessMutex, before 5.0 without dashes or with
		"_c_" + someGUID + "-lock-0000000001":      {LockLabel},
		"_c_" + hex + "-lock-0000000001":           {LockLabel},      // go-zookeeper's Lock
		"_c_" + hex[:31] + "-lock-0000000001":      {LockLabel},      // a fork's
		"lock-0000000001":                          {LockLabel},      // a program without GUIDs
		"_c_" + someGUID + "-__WRIT__0000000001":   {WriteLabel},     // Curator's InterProcessReadWriteLock
		"__READ__0000000001":                       {ReadLabel},      //
		hex + "__lock__0000000001":                 {KazooLabel},     // kazoo's Lock and WriteLock
		hex + "__rlock__0000000001":                {KazooReadLabel}, // kazoo's ReadLock
		"_c_" + someGUID + "-lease-0000000001":     {LeaseLabel},     // Curator's InterProcessSemaphoreV2
		"n_0000000001":                             {"n_"},           // ZooKeeper's recipe
		"_c_" + hex + "-n_0000000001":              {"n_"},           // go-zookeeper's protected create
		"_c_" + someGUID + "-n_0000000001":         {"n_"},           // Curator's
		"x-n_0000000001":                           {"n_"},           // anything else
		"0000000001":                               {""},             // Vitess
		"-000000001":                               {""},             // behind its counter's end
		"_c_" + hex + "-0000000001":                {""},             // a protected one
		"_c_" + someGUID + "-0000000001":           {""},             //
		"_c_" + hex[1:] + "-0000000001":            nil,              // a GUID that is none
		"00000000001":                              nil,              // no number of the sequence flag
		"config":                                   nil,              //
		"n_1":                                      nil,              //
		"lock-0000000001.bak":                      nil,              //
		"_c_" + hex + "-lock-00000000010000000002": nil,              //
	} {
		var got []string
		for _, label := range labels {
			if _, ok := ParsePlace(name, label); ok {
				got = append(got, label)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is a place of %q, want %q", name, got, want)
		}
	}
}

// A line without a prefix has one first place, and a child that fits two lines is in the one with the longer label.
func TestEveryChildIsInOneLine(t *testing.T) {
	all, foreign := Places([]string{"0000000001", "0000000002", "an_0000000003", "n_0000000004", "x"}, "n_", "an_", "")
	var got []string
	for _, p := range all {
		if p.Shares() {
			t.Errorf("%q holds together with others", p.Name)
		}
		got = append(got, p.Kind.Label+" "+p.Name)
	}
	want := []string{"n_ n_0000000004", "an_ an_0000000003", " 0000000001", " 0000000002"}
	if !slices.Equal(got, want) || foreign != 1 {
		t.Errorf("%q, %d foreign", got, foreign)
	}
}

// The own nodes of an enrolment without a GUID are those with nothing but the label and the number.
func TestProtectedNamesAreNeverTheOwnOnesOfAPlainElection(t *testing.T) {
	children := []string{"_c_" + someGUID + "-n_0000000001", "n_0000000003", "n_0000000002", "x-n_0000000004"}
	var got []string
	for _, p := range ofGUID(children, "", "n_") {
		got = append(got, p.Name)
	}
	if want := []string{"n_0000000002", "n_0000000003"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWithoutGUID(t *testing.T) {
	for name, want := range map[string]string{
		"_c_0f1e2d3c-4b5a-4988-8776-655443322110-latch-0000000007": "latch-0000000007",
		"latch-0000000007": "latch-0000000007",
		"_c_0f1e2d3c4b5a49888776655443322110-n_0000000007": "n_0000000007",
		"_c_no-guid-latch-0000000007":                      "_c_no-guid-latch-0000000007",
		"_c_0f1e2d3c-4b5a-4988-8776-6554":                  "_c_0f1e2d3c-4b5a-4988-8776-6554",
	} {
		if got := WithoutGUID(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestLineOrdersByNumber(t *testing.T) {
	children := []string{"latch-0000000010", "foreign", "_c_" + someGUID + "-latch-0000000009", "latch--2147483648",
		"latch-2147483647", "lock-0000000000", "latch-0000000009", "latch--000000001"}
	line, foreign := Line(children, LatchLabel)
	var got []string
	for _, p := range line {
		got = append(got, p.Name)
	}
	want := []string{"latch--2147483648", "latch--000000001", "_c_" + someGUID + "-latch-0000000009",
		"latch-0000000009", "latch-0000000010", "latch-2147483647"}
	if !slices.Equal(got, want) || foreign != 2 {
		t.Errorf("%v, %d foreign, want %v, 2", got, foreign, want)
	}
}

func TestEnded(t *testing.T) {
	for sequence, want := range map[int64]bool{0: false, lastSequence - 1: false, lastSequence: true, 1<<31 - 1: true,
		-1: true, -1 << 31: true} {
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
	for _, name := range []string{"latch-0000000007", "latch--2147483648", "_c_" + someGUID + "-latch-0000000007",
		"_c_short", "0", "latch-7", "_c_" + someGUID + "-latch-", "\x00latch-0000000001", "latch-٠١٢٣٤"} {
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
		before := strings.TrimSuffix(name, again)
		if before+again != name || p.GUID != "" && before != GUIDPrefix+p.GUID+"-" || p.Sequence < -1<<31 ||
			p.Sequence >= 1<<31 {
			t.Fatalf("%q was read as %+v, which is written %q", name, p, before+again)
		}
	})
}

func TestCutNumber(t *testing.T) {
	for name, want := range map[string]struct {
		before string
		number int64
		ok     bool
	}{
		"latch-0000000007":  {"latch-", 7, true},
		"latch--2147483648": {"latch-", -2147483648, true},
		"0000000007":        {"", 7, true},
		"latch-000000007":   {"latch", -7, true}, // ten characters, with the sign
		"latch-00000007":    {"latch-00000007", 0, false},
		"latch-000000000x":  {"latch-000000000x", 0, false},
		"":                  {"", 0, false},
	} {
		if before, number, ok := CutNumber(name); before != want.before || number != want.number || ok != want.ok {
			t.Errorf("%q: %q, %d, %t, want %+v", name, before, number, ok, want)
		}
	}
}

// Of items that are not due at a time, the one with the lowest number was put first. What is no item does not count.
func TestTheFirstPut(t *testing.T) {
	names := []string{"queue-0000000008", "queue-0000000007", "queue-", "lock-0000000001", "queue-000000000x"}
	for kind, want := range map[ItemKind]string{FIFO: "queue-0000000007", ByDue: ""} {
		if first, items := kind.FirstPut(names); first != want || items != 2 {
			t.Errorf("%v: %q, %d items, want %q and 2", kind, first, items, want)
		}
	}
}
