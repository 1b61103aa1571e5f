package zkio

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// The code and the path of a multi are those of the operation that failed, wherever it stands: the others are only
// rolled back.
func TestAMultiFailsByTheOperationThatFailed(t *testing.T) {
	ops := []events.Op{{Path: "/a"}, {Path: "/b"}, {Path: "/c"}}
	for _, codes := range [][]int32{{-101, -2, -2}, {0, -101, -2}, {-2, -101, -2}, {-2, -2, -101}, {0, 0, -101}} {
		frame := jute.Frame{}
		want := ""
		for i, code := range codes {
			frame = frame.Int32(opError).Bool(false).Int32(code).Int32(code)
			if code == -101 {
				want = ops[i].Path
			}
		}
		b, e := &jute.Decoder{Rest: frame.Int32(-1).Bool(true).Int32(-1)}, &events.Event{}
		new(coding).readMulti(b, e, ops)
		if b.Bad || e.Code != events.NoNode || e.Path != want {
			t.Errorf("%v: %s of %s, bad %t, want %s of %s", codes, e.Code, e.Path, b.Bad, events.NoNode, want)
		}
	}
}
