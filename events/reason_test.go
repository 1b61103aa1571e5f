package events

import "testing"

func TestReasons(t *testing.T) {
	for code, words := range reasons {
		if code.String() != words || words == "" {
			t.Errorf("%q says %q", string(code), code)
		}
		successible := code == ReasonDeleted || code == ReasonNodeGone || code == ReasonSessionOver
		if code.Successible() != successible {
			t.Errorf("after %q another may lead: %t", string(code), code.Successible())
		}
		planned := code == ReasonResigned || code == ReasonClosed || code == ReasonReturned || code == ReasonRevoked ||
			code == ReasonMoved
		if code.Planned() != planned {
			t.Errorf("%q is planned: %t", string(code), code.Planned())
		}
	}
	if got := Reason("of-a-later-version").String(); got != "of-a-later-version" {
		t.Errorf("a code that is not known says %q", got)
	}
}
