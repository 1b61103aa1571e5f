package wire

import (
	"encoding/binary"
	"slices"
	"testing"
)

// TestTheStoryNamesFrames checks that the story says which request, and of which path, a frame is.
func TestTheStoryNamesFrames(t *testing.T) {
	frame := func(numbers []int32, text string) (b []byte) {
		for _, n := range numbers {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
		return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b)
	}
	for _, c := range []struct {
		up    bool
		frame []byte
		first bool
		want  string
	}{
		{true, frame([]int32{0, 0, 0, 4000, 0, 0}, "password"), true, "to the server (connect)"},
		{true, frame([]int32{3, 4}, "/line/a"), false, "to the server (getData /line/a)"},
		{true, frame([]int32{3, opSync}, "/"), false, "to the server (sync /)"},
		{true, frame([]int32{3, 14}, "not a path"), false, "to the server (multi)"},
		{true, frame([]int32{3, 77}, "/"), false, "to the server (operation 77)"},
		{false, frame([]int32{0, 4000, 0, 0}, "password"), true, "to the client (the answer to connect)"},
		{false, frame([]int32{3, 0, 12, 0}, ""), false, "to the client (reply 3)"},
		{false, frame([]int32{-1, 0, 12, 0, 2, 3}, "/line/a"), false, "to the client (a watch of /line/a)"},
		{false, frame([]int32{-2, 0, 12, 0}, ""), false, "to the client (the answer to a ping)"},
	} {
		if got := what(c.up, c.frame, c.first); got != c.want {
			t.Errorf("%x is %q; want %q", c.frame, got, c.want)
		}
	}
}
