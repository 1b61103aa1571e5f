package events_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/incumbent-go/incumbent/events"
)

func TestForeignTextIsOneShortVisibleLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"zk1:2181: refused":        "zk1:2181: refused",
		"a\nb\tc":                  `a\nb\tc`,
		"\x1b[2J":                  `\x1b[2J`,
		"\u202egnp.exe":            `\u202egnp.exe`,
		"\u2028\u00a0\ufeff":       `\u2028\u00a0\ufeff`,
		"\xff\xfe":                 `\xff\xfe`,
		"größer, 東京":               "größer, 東京",
		strings.Repeat("x", 1<<20): strings.Repeat("x", 64) + "…",
	} {
		got := events.Foreign(text, events.MaxName)
		if got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func FuzzForeign(f *testing.F) {
	f.Add("a\nb\xff\u202e", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = max(1, min(most, 4096))
		got := events.Foreign(text, most)
		if len(got) > most+len(`\U0010ffff`)+len("…") {
			t.Errorf("%d bytes of %d at most", len(got), most)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q has an invisible character", got)
		}
		if again := events.Foreign(got, 2*len(got)+1); again != got {
			t.Errorf("%q became %q", got, again)
		}
	})
}
