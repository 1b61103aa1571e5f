package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// TimeLayout is how times are printed: as in RFC 3339, with milliseconds, and with the zone as numbers.
const TimeLayout = "2006-01-02T15:04:05.000-07:00"

// longest is the maximal length of a foreign text.
const longest = 80

// Quote returns foreign text in quotes, escaped so that a terminal executes nothing in it.
func Quote(s string) string {
	if utf8.RuneCountInString(s) > longest {
		r := []rune(s)
		return strconv.Quote(string(r[:longest])) + "…"
	}
	return strconv.Quote(s)
}

// Plain returns text that may have foreign parts, escaped line by line as in Quote.
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

// Short returns a duration with three figures at most.
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

// Plural returns "1 record", "2 records".
func Plural[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
