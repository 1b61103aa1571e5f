package world

import (
	"strings"
	"testing"
	"time"
)

// A leader's process does not run for most of the session timeout, 6 s, or for longer. That is named
// as the reason for the end of its term, and in place of what the server did. A server that
// is silent while the process runs, and a pause of another process, are none.
func TestAPauseOfTheProcessIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		action Action
		want   []string // in the leader's log
	}{
		"suspended": {Action{Do: Freeze, For: 5 * time.Second},
			[]string{`"paused":5000`, "this process did not run for 5.0 s, and lost its connection to "}},
		"expired": {Action{Do: Freeze, For: 12 * time.Second},
			[]string{`"paused":12000`, "this process did not run for 12.0 s, and its session has expired"}},
		"silent":    {Action{Do: Mute}, []string{"silent for too long"}},
		"another's": {Action{Do: Freeze, For: 12 * time.Second, Who: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.action.At = at(20 * time.Second)
			s := play(t, three("latch", c.action), time.Minute)
			var log strings.Builder
			for _, l := range s.logs[0] {
				if l.at >= c.action.At {
					log.Write(l.text)
				}
			}
			for _, text := range c.want {
				if !strings.Contains(log.String(), text) {
					t.Errorf("the log lacks %q", text)
				}
			}
			if named := strings.Contains(log.String(), "did not run"); named != (len(c.want) == 2) {
				t.Errorf("the log names a pause: %t", named)
			}
		})
	}
}
