package machines

import (
	"fmt"
	"math/rand"
	"testing"
)

func TestHeartbeatSet(t *testing.T) {
	var o heartbeatSet
	o.remove("nobody")
	if !o.empty() || o.size() != 0 {
		t.Fatal("a new set is not empty")
	}
	o.add(heartbeatEntry{machine: "a", path: "/l/a"})
	o.add(heartbeatEntry{machine: "b", path: "/l/b"})
	o.add(heartbeatEntry{machine: "a", path: "/l/a2"})
	for range 3 {
		if a, b := o.next().path, o.next().path; o.size() != 2 || a != "/l/a2" || b != "/l/b" {
			t.Fatalf("%s, %s of %+v", a, b, o)
		}
	}
	o.remove("b")
	o.remove("b")
	if o.size() != 1 || o.next().path != "/l/a2" {
		t.Fatalf("%+v", o)
	}
	o.clear()
	o.remove("a")
	o.add(heartbeatEntry{machine: "c", path: "/l/c"})
	if o.next().path != "/l/c" || o.size() != 1 {
		t.Fatalf("%+v", o)
	}
}

// TestHeartbeatSetAgainstAMap checks that the set's index always agrees with its list, and that no
// entry is checked twice before each of the others was checked once.
func TestHeartbeatSetAgainstAMap(t *testing.T) {
	dice := rand.New(rand.NewSource(1))
	var o heartbeatSet
	truth, checked := map[string]string{}, map[string]bool{}
	for n := range 20_000 {
		id := fmt.Sprint(dice.Intn(20))
		switch dice.Intn(10) {
		case 0, 1, 2, 3:
			o.add(heartbeatEntry{machine: id, path: fmt.Sprint("/", n)})
			truth[id] = fmt.Sprint("/", n)
		case 4, 5, 6, 7:
			o.remove(id)
			delete(truth, id)
			delete(checked, id)
		case 8:
			if o.empty() {
				break
			}
			if len(checked) == len(truth) {
				clear(checked)
			}
			next := o.next().machine
			if checked[next] {
				t.Fatalf("step %d: %s is checked again, after %v of %v", n, next, checked, truth)
			}
			checked[next] = true
		}
		if o.size() != len(truth) || o.empty() != (len(truth) == 0) {
			t.Fatalf("step %d: %d entries, want %d", n, o.size(), len(truth))
		}
		for i, h := range o.entries {
			if truth[h.machine] != h.path || o.index[h.machine] != i {
				t.Fatalf("step %d: entry %d is %+v, index %d, want path %s", n, i, h, o.index[h.machine],
					truth[h.machine])
			}
		}
	}
}
