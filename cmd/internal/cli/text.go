package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// longest is how much of a foreign text is shown.
const longest = 80

// Quote shows foreign text such that no terminal does anything with it.
func Quote(s string) string {
	if utf8.RuneCountInString(s) > longest {
		r := []rune(s)
		return strconv.Quote(string(r[:longest])) + "…"
	}
	return strconv.Quote(s)
}

// Plain makes text that may hold foreign parts harmless, line by line.
func Plain(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '"' || r == '\\':
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(strings.ReplaceAll(quoted[1:len(quoted)-1], `\'`, "'"))
		}
	}
	return b.String()
}

// Short is a duration with three figures at most.
func Short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// Plural is "1 record", "2 records".
func Plural[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
