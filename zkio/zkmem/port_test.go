package zkmem

import (
	"net"
	"testing"
)

// An address comes again only after all others of the block, and none that is listened on; another process has others.
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
	seen := map[int]bool{}
	for range blockSize - 2 {
		port := a.given(t)
		if seen[port] || port == a.block+5 || port <= a.block || port >= a.block+blockSize {
			t.Fatalf("%d, of the block %d, after %d others", port, a.block, len(seen))
		}
		seen[port] = true
	}
	if port := a.given(t); !seen[port] {
		t.Fatalf("%d after all others", port)
	}
}

// Who listens on a whole block gets a second one.
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
