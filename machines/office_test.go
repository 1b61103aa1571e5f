package machines

import (
	"fmt"
	"math/rand"
	"testing"
)

func TestOffice(t *testing.T) {
	var o office
	o.remove("nobody")
	if !o.empty() || o.size() != 0 {
		t.Fatal("a new office is not empty")
	}
	o.add(holder{machine: "a", path: "/l/a"})
	o.add(holder{machine: "b", path: "/l/b"})
	o.add(holder{machine: "a", path: "/l/a2"})
	for range 3 {
		if a, b := o.probe().path, o.probe().path; o.size() != 2 || a != "/l/a2" || b != "/l/b" {
			t.Fatalf("%s, %s of %+v", a, b, o)
		}
	}
	o.remove("b")
	o.remove("b")
	if o.size() != 1 || o.probe().path != "/l/a2" {
		t.Fatalf("%+v", o)
	}
	o.clear()
	o.remove("a")
	o.add(holder{machine: "c", path: "/l/c"})
	if o.probe().path != "/l/c" || o.size() != 1 {
		t.Fatalf("%+v", o)
	}
}

// TestOfficeAgainstAMap: its index never disagrees with its list.
func TestOfficeAgainstAMap(t *testing.T) {
	dice := rand.New(rand.NewSource(1))
	var o office
	truth := map[string]string{}
	for n := range 20_000 {
		id := fmt.Sprint(dice.Intn(20))
		switch dice.Intn(10) {
		case 0, 1, 2, 3:
			o.add(holder{machine: id, path: fmt.Sprint("/", n)})
			truth[id] = fmt.Sprint("/", n)
		case 4, 5, 6, 7:
			o.remove(id)
			delete(truth, id)
		case 8:
			if !o.empty() {
				o.probe()
			}
		}
		if o.size() != len(truth) || o.empty() != (len(truth) == 0) {
			t.Fatalf("step %d: %d holders, want %d", n, o.size(), len(truth))
		}
		for i, h := range o.holders {
			if truth[h.machine] != h.path || o.index[h.machine] != i {
				t.Fatalf("step %d: holder %d is %+v, index %d, want path %s", n, i, h, o.index[h.machine], truth[h.machine])
			}
		}
	}
}
