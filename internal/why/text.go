package why

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/machines"
)

// dirOf returns the directory of a node.
func dirOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// inDir returns the path of a node in a directory.
func inDir(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// baseOf returns a node's name in its directory.
func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// shortNode returns a node's number in its line, as people name it.
func shortNode(path string) string {
	name := baseOf(path)
	if machines.IsShardMember(name) {
		return name[:len(name)-28] + "…" // with the first part of the GUID
	}
	digits := len(name)
	for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' {
		digits--
	}
	if number := strings.TrimLeft(name[digits:], "0"); number != "" {
		return number
	}
	if digits < len(name) {
		return "0"
	}
	return name
}

// clockText returns a time of day, to the millisecond.
func clockText(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000") }

// span returns a duration for people.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d.Round(time.Second) >= time.Hour:
		return d.Round(time.Second).String()
	case d >= time.Minute:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3f ms", float64(d)/1e6)
}

func contains(s, part string) bool { return strings.Contains(s, part) }

// quote returns a foreign text in quotes, with everything escaped that a terminal would obey.
func quote(s string) string { return strconv.QuoteToGraphic(s) }

func hex(n int64) string { return "0x" + strconv.FormatUint(uint64(n), 16) }

// harmless returns a text with everything escaped that a terminal would obey, and nothing else changed.
func harmless(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsGraphic(r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strconv.IsGraphic(r) && r != utf8.RuneError {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// plural returns "1 record" or "2 records".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// oneLine returns a foreign text on one line, with everything escaped that a terminal would obey.
func oneLine(s string) string {
	q := quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// quoteID returns a participant's id: as it is if it is plain, else quoted.
func quoteID(s string) string {
	if len(s) > 64 {
		s = s[:64] + "…"
	}
	if q := quote(s); q[1:len(q)-1] != s || strings.ContainsAny(s, " :;,") {
		return q
	}
	return s
}

// smallError is the error up to which a duration is shown with it, and not as two bounds.
const smallError = 50 * time.Millisecond

// between returns a duration that is known up to bounds, for people.
func between(least, most time.Duration) string {
	half := (most - least) / 2
	switch {
	case most < least: // there is no upper bound
		return "at least " + span(least)
	case span(least) == span(most):
		return span(most)
	case least <= 0:
		return "at most " + span(most)
	case half <= smallError:
		return span(least+half) + plusMinus(half)
	}
	return "at least " + span(least) + ", at most " + span(most)
}

// plusMinus returns an error in parentheses, "" for none.
func plusMinus(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " (±" + span(d) + ")"
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func abs(n int64) int64 { return max(n, -n) }

func at(ns int64) *time.Time {
	t := time.Unix(0, ns).UTC()
	return &t
}
