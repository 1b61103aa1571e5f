package machines

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

func TestOptions(t *testing.T) {
	o := options{values: map[string]string{"d": "3s", "i": "7", "n": "-9", "f": "true", "p": "forever/-1/1s/0s"}}
	if o.duration("d", 0) != 3*time.Second || o.integer("i", 0) != 7 || o.number("n") != -9 || !o.flag("f") || o.policy("p", Policy{}) != Forever(time.Second) || o.err != nil {
		t.Errorf("%+v", o)
	}
	if o.duration("x", time.Hour) != time.Hour || o.integer("x", 5) != 5 || o.number("x") != 0 || o.flag("x") || o.policy("x", Once(1)) != Once(1) || o.err != nil {
		t.Errorf("what is not given is not the fallback: %v", o.err)
	}
}

// TestOptionsKeepTheFirstError: a machine that cannot be made says which option
// is wrong, and how it was written.
func TestOptionsKeepTheFirstError(t *testing.T) {
	for name, bad := range map[string]string{"tokenFloor": "many", "rideOut": "perhaps", "retry": "often"} {
		_, err := newLatch(events.Event{Options: map[string]string{name: bad}})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	for name, bad := range map[string]string{"tick": "soon", "tickAssumed": "perhaps", "askedTimeout": "long", "syncLimit": "some", "rideOut": "perhaps", "retry": "often"} {
		if _, err := newSession(events.Event{Options: map[string]string{name: bad}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	if _, err := newSelector(events.Event{Options: map[string]string{"autoRequeue": "perhaps"}}); err == nil {
		t.Error("autoRequeue=perhaps was taken")
	}
	o := options{values: map[string]string{"a": "x", "b": "y"}}
	o.integer("a", 0)
	o.integer("b", 0)
	if o.err == nil || !strings.Contains(o.err.Error(), `a="x"`) {
		t.Errorf("the first error is not kept: %v", o.err)
	}
}
