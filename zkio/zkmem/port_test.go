package zkmem

import (
	"net"
	"strconv"
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
	seen := map[string]bool{}
	for range blockSize - 2 {
		addr, ok := a.unused()
		_, port, _ := net.SplitHostPort(addr)
		if n, _ := strconv.Atoi(port); !ok || seen[addr] || addr == busy.Addr().String() || n <= a.block || n >= a.block+blockSize {
			t.Fatalf("%q, of the block %d, after %d others", addr, a.block, len(seen))
		}
		seen[addr] = true
	}
	if addr, ok := a.unused(); !ok || !seen[addr] {
		t.Fatalf("%q after all others", addr)
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

func (p *ports) free() {
	for _, l := range p.locks {
		l.Close()
	}
}
