package zkmem

import (
	"net"
	"slices"
	"testing"
)

// An address comes again only after all others of the block, and none that is in use;
// another process has others.
func TestFreeAddressesAreOurOwn(t *testing.T) {
	var a, b ports
	if !a.take() || !b.take() || a.block == b.block {
		t.Fatalf("blocks %d and %d", a.block, b.block)
	}
	defer a.free()
	defer b.free()
	busy, err := listen(a.block + 5)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	var given []int
	for range 2 * blockSize {
		port := a.given(t)
		if port == a.block+5 || port <= a.block || port >= a.block+blockSize {
			t.Fatalf("%d, of the block %d, after %v", port, a.block, given)
		}
		if given = append(given, port); slices.Contains(given[:len(given)-1], port) {
			break
		}
	}
	if last := len(given) - 1; last < 2 || given[last] != given[0] {
		t.Fatalf("one came again before all others had come: %v", given)
	}
}

// A process that listens on a whole block gets a second one.
func TestABlockThatIsFullIsFollowedByAnother(t *testing.T) {
	for range blockSize {
		addr, err := FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}

func (p *ports) given(t *testing.T) int {
	t.Helper()
	l, err := p.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (p *ports) free() {
	for _, l := range p.locks {
		l.Close()
	}
}
