package events

import (
	"testing"
	"time"
)

func TestConfirmations(t *testing.T) {
	const start = int64(5 * time.Second)
	var c Confirmations
	posted := 0
	for i := range 1000 { // a write each 10 ms
		if c.Confirmed(start+int64(i)*int64(10*time.Millisecond), 16*time.Second) {
			posted++
		}
	}
	if posted != 10 {
		t.Errorf("%d confirmations in 10 s at a timeout of 16 s, want one a second", posted)
	}
}

func TestConfirmation(t *testing.T) {
	set := Op{Verb: "set", Path: "/data"}
	for _, test := range []struct {
		ops  []Op
		path string
	}{
		{[]Op{{Verb: "check", Path: "/own", Version: -1}, set}, "/own"},
		{[]Op{set, {Verb: "check", Path: "/own", Version: -1}}, ""},
		{nil, ""},
	} {
		got := Confirmation(Multi{Call: Call{Session: 3}, Ops: test.ops}, 7, 5, 9)
		if got.Kind != ConnectionConfirmed || got.Session != 3 || got.SentAt != 7 || got.Contact != 5 ||
			got.Zxid != 9 || got.Path != test.path {
			t.Errorf("%+v: %+v, want path %q", test.ops, got, test.path)
		}
	}
}
