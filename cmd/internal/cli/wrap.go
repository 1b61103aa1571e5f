package cli

import (
	"strings"
	"unicode/utf8"
)

// leastWidth is the narrowest terminal for which lines are broken: below it, nothing helps.
const leastWidth = 40

// wrap breaks the lines of a text that have more columns than width, between words. What follows a break begins where
// the text of its
// line began, and two columns further. A word that is longer than a line stays whole. Colours take no column. A width
// of 0 breaks nothing.
func wrap(text string, width int) string {
	if width < leastWidth {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		if visible(body) <= width {
			b.WriteString(line)
			continue
		}
		indent := strings.Repeat(" ", len(body)-len(strings.TrimLeft(body, " "))+2)
		at := 0
		for _, word := range strings.SplitAfter(body, " ") {
			if n := visible(strings.TrimRight(word, " ")); at+n > width && at > len(indent) {
				b.WriteString("\n" + indent)
				at = len(indent)
			}
			b.WriteString(word)
			at += visible(word)
		}
		b.WriteString(line[len(body):])
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// visible returns how many columns a text takes, without the codes of colours.
func visible(text string) (n int) {
	for text != "" {
		if strings.HasPrefix(text, "\x1b[") {
			if end := strings.IndexByte(text, 'm'); end > 0 {
				text = text[end+1:]
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(text)
		text, n = text[size:], n+1
	}
	return n
}
