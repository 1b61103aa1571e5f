package door_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An order of numbers that contradicts the order of creation is named, within one line only.
func TestAForgedOrderIsNamed(t *testing.T) {
	for names, want := range map[string]string{
		"latch-3 latch-4 latch-9":        "",
		"latch-3 latch-2":                "latch-2 ahead of latch-3",
		"latch-3 latch-4 latch-1":        "latch-1 ahead of latch-3",
		"latch-3 lock-2":                 "",
		"__WRIT__3 __READ__2":            "__READ__2 ahead of __WRIT__3",
		"n_3 n_4 n_2":                    "n_2 ahead of n_3",
		"n_3 m_2":                        "",
		"latch-9 latch-3 latch-4 lock-1": "latch-4 ahead of latch-9",
	} {
		t.Run(names, func(t *testing.T) {
			srv := zkmem.Start(t)
			ctx, c := openedBy(t, srv)
			if _, err := c.Create("/l", nil).Do(ctx); err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(names) {
				label := strings.TrimRight(name, "0123456789")
				if _, err := c.Create(fmt.Sprintf("/l/%s%010s", label, name[len(label):]), nil).Do(ctx); err != nil {
					t.Fatal(err)
				}
			}
			line, err := c.Line(ctx, "/l", "n_", "m_")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if ahead, behind, forged := line.Forged(); forged {
				got = short(ahead) + " ahead of " + short(behind)
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// short returns a node's name without the zeros of its number.
func short(p incumbent.Participant) string {
	name := p.Path[strings.LastIndexByte(p.Path, '/')+1:]
	return p.Prefix + strings.TrimLeft(strings.TrimPrefix(name, p.Prefix), "0")
}

// A directory that is too large to be listed is named with the number of its children.
func TestALineThatIsTooLargeSaysHowLarge(t *testing.T) {
	srv := zkmem.Start(t)
	ctx, c := openedBy(t, srv)
	if _, err := srv.Create("/l", nil, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	const children = 4<<20/1000 + 50
	for i := range children {
		if _, err := srv.Create(fmt.Sprintf("/l/%01000d", i), nil, zkmem.Persistent); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.Line(ctx, "/l")
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("it has %d children", children)) ||
		!strings.Contains(err.Error(), "Config.MaxAnswer") {
		t.Errorf("%v, want the number of %d children", err, children)
	}
}
