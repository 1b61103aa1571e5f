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
	MaxText = 1024 // a sentence: why a connection failed
)

// Foreign returns text that others wrote, such as a server's answer, a name in a certificate or an
// error of the network, for an error or a log: on one line, without characters that a terminal
// executes, that are invisible or change the direction of writing, and of about most bytes at most.
// What it replaces, it writes as in a Go string: \n, \x1b, \u202e. Text that it returned stays the same.
func Foreign(text string, most int) string {
	plain := len(text) <= most
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] < 0x7f
	}
	if plain {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case b.Len() >= most:
			b.WriteString("…")
			return b.String()
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}
