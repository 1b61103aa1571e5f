package segments

import "strings"

// name is the parts of a segment's name: STEM-NUMBER.jsonl, with .gz behind it if it is compressed, and .part while
// that is going on.
type name struct{ stem, number, ending, part string }

// parse returns the parts of a segment's name, and whether it is one. It does without package regexp, which would be
// linked into every program that embeds a client.
func parse(file string) (n name, ok bool) {
	rest := file
	for _, end := range []string{compressed, plain} {
		cut, part := strings.CutSuffix(rest, end+unfinished)
		if part {
			n.part = unfinished
		} else if cut, ok = strings.CutSuffix(rest, end); !ok {
			continue
		}
		n.ending, rest = end, cut
		break
	}
	dash := strings.LastIndexByte(rest, '-')
	if n.ending == "" || dash < 0 || strings.ContainsRune(file, '\n') {
		return name{}, false
	}
	n.stem, n.number = rest[:dash], rest[dash+1:]
	if len(n.number) < 6 || !digits(n.number) || !isStem(n.stem) {
		return name{}, false
	}
	return n, true
}

// isStem reports whether a text is what Stem returns: when the client began, its host and its process.
func isStem(stem string) bool {
	start, rest, _ := strings.Cut(stem, "Z-")
	whole, fraction, _ := strings.Cut(start, ".")
	date, time, _ := strings.Cut(whole, "T")
	dash := strings.LastIndexByte(rest, '-')
	return len(date) == 8 && digits(date) && len(time) == 6 && digits(time) && digits(fraction) && dash > 0 &&
		digits(rest[dash+1:])
}

// digits reports whether a text is one digit or more, and nothing else.
func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// safe returns a host's name with an underscore in place of what does not belong into a file's name.
func safe(host string) string {
	var b strings.Builder
	replaced := false
	for _, r := range host {
		kept := r < 128 &&
			(r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
		if kept {
			b.WriteRune(r)
		} else if !replaced {
			b.WriteByte('_')
		}
		replaced = !kept
	}
	return b.String()
}
