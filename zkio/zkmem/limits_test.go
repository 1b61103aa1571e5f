package zkmem

import (
	"strings"
	"testing"
	"time"
)

// Limits that no session timeout satisfies are refused with what would be right.
func TestLimitsThatContradictEachOtherAreRefused(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	for name, set := range map[string]func(){
		"Options": func() {
			New(Options{MinSessionTimeout: 3 * time.Second, MaxSessionTimeout: time.Second})
		},
		"longer than the longest": func() { s.SetSessionTimeouts(9*time.Second, 2*time.Second) },
		"zero":                    func() { s.SetSessionTimeouts(0, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text,
					"the shortest has to be positive, and at most the longest") {
					t.Errorf("it panics with %q", text)
				}
			}()
			set()
		})
	}
	long := New(Options{Tick: time.Second, MinSessionTimeout: time.Minute})
	defer long.Close()
	if granted := long.negotiate(1000); granted != time.Minute {
		t.Errorf("with a shortest timeout of 1m, and no longest, %s is granted", granted)
	}
}
