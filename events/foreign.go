package events

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The longest foreign texts, in bytes, as Foreign cuts them.
const (
	MaxName = 64   // a name: a host, an id, one name in a certificate
	MaxPath = 512  // the path of a node
	MaxText = 1024 // a sentence: why a connection failed
)

// Foreign returns text that others wrote, such as a server's answer, a name in a certificate or an
// error of the network, for an error or a log: on one line, without characters that a terminal
// executes, that are invisible or change the direction of writing, and of most bytes at most, without the
// mark … of a cut; a sentence of more keeps its end, too. What it replaces, it writes as in a Go string: \n, \x1b,
// \u202e. Text that it returned stays the same.
func Foreign(text string, most int) string {
	shown, whole := visible(text, most, "")
	switch {
	case whole:
		return shown
	case most < MaxText:
		return shown + "…"
	}
	last := most / 4 // the end of a sentence often says why
	end, _ := visible(text[len(text)-last:], last, "")
	begin, _ := visible(text, most-last-len("…"), "")
	return begin + "…" + end
}

// Quote returns a name that others chose, or the name of a file, in quotes and otherwise as Foreign does: a
// quote in it is written \". The mark of a cut stands behind the quotes.
func Quote(name string, most int) string {
	shown, whole := visible(name, most, `"\`)
	if !whole {
		return `"` + shown + `"…`
	}
	return `"` + shown + `"`
}

// visible returns the part of a text that is shown, with a backslash before some characters, and whether that is all
// of it.
func visible(text string, most int, escaped string) (shown string, whole bool) {
	plain := len(text) <= most && !strings.ContainsAny(text, escaped)
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] < 0x7f
	}
	if plain {
		return text, true
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		one := text[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			one = fmt.Sprintf(`\x%02x`, text[i])
		case r < utf8.RuneSelf && strings.IndexByte(escaped, text[i]) >= 0:
			one = `\` + one
		case !strconv.IsPrint(r):
			one = strings.Trim(strconv.QuoteRune(r), "'")
		}
		if b.Len()+len(one) > most {
			return b.String(), false
		}
		b.WriteString(one)
	}
	return b.String(), true
}
