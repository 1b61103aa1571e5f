package events_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/incumbent-go/incumbent/events"
)

func TestHarmlessJSONMeansTheSame(t *testing.T) {
	for _, s := range []string{"", "plain", "é 漢 👍", "\x1b[31m", "delete \x7f, C1 \u009b31m",
		"\u202eright to left\u200f", "\u2028 tag \U000E0001", "not UTF-8 \xff"} {
		b, err := json.Marshal([]string{s})
		if err != nil {
			t.Fatal(err)
		}
		safe := events.EscapeForTerminal(b)
		if i := strings.IndexFunc(string(safe), func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q holds something to obey at byte %d", safe, i)
		}
		var before, after []string
		if json.Unmarshal(b, &before) != nil || json.Unmarshal(safe, &after) != nil || before[0] != after[0] {
			t.Errorf("%q became %q", before, after)
		}
	}
	for _, ends := range []string{"{}\n", `["é"]` + "\n"} {
		if got := string(events.EscapeForTerminal([]byte(ends))); got != ends {
			t.Errorf("%q became %q", ends, got)
		}
	}
}
