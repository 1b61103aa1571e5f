package machines

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A reader for the part of YAML in which ElasticJob writes a job's configuration: one mapping in block
// style, whose values are scalars. Values of other kinds are skipped unless they are asked for.

// yamlField is one entry of the mapping.
type yamlField struct {
	line int
	key  string
	text string // what follows the colon, with the lines below that belong to it
}

// yamlFields returns the entries of a mapping in block style.
func yamlFields(text string) (fields []yamlField, err error) {
	for i, line := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case len(fields) == 0 && (strings.TrimSpace(line) == "" || line == "---"):
		case line == "---", line == "...":
			return nil, fmt.Errorf("line %d: %q: want one document", i+1, line)
		case len(fields) > 0 && (line == "" || strings.ContainsRune(" \t", rune(line[0])) || isListItem(line)):
			fields[len(fields)-1].text += "\n" + line
		default:
			key, rest, ok := strings.Cut(line, ":")
			if !ok || strings.Trim(key, `"'`) == "" || key[0] == ' ' ||
				rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				return nil, fmt.Errorf("line %d: %q: want a field and its value, as in shardingTotalCount: 3", i+1,
					line)
			}
			f := yamlField{line: i + 1, key: strings.Trim(key, `"'`), text: strings.TrimLeft(rest, " \t")}
			fields = append(fields, f)
		}
	}
	return fields, nil
}

// isListItem reports whether a line begins an item of a list.
func isListItem(line string) bool { return line == "-" || strings.HasPrefix(line, "- ") }

// scalar returns the value of an entry as a string: empty for null.
func (f yamlField) scalar() (string, error) {
	if f.text == "" {
		return "", nil
	}
	switch first := f.text[0]; {
	case first == '"' || first == '\'':
		value, rest, err := yamlQuoted(f.text[1:], first)
		if err == nil && !yamlBlank(rest) {
			err = fmt.Errorf("%q follows the closing quote", strings.TrimSpace(rest))
		}
		return value, err
	case first == '|' || first == '>':
		return yamlBlock(f.text)
	case strings.ContainsRune("!&*[{%@`,", rune(first)):
		return "", fmt.Errorf("the value begins with %q: want a plain or a quoted one", string(first))
	}
	return yamlPlain(f.text)
}

// yamlBlank reports whether there are only spaces and comments.
func yamlBlank(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// yamlPlain reads a value without quotes.
func yamlPlain(text string) (string, error) {
	var folded yamlFold
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			line = ""
		}
		comment := strings.Index(strings.ReplaceAll(line, "\t#", " #"), " #")
		if comment >= 0 {
			line = strings.TrimSpace(line[:comment])
		}
		if isListItem(line) || strings.HasPrefix(line, "? ") {
			return "", errors.New("the value is a list: want one value")
		}
		if strings.HasSuffix(line, ":") || strings.Contains(line, ": ") {
			return "", fmt.Errorf("%q has a colon: want the value in quotes", line)
		}
		folded.add(line)
	}
	switch value := folded.String(); value {
	case "~", "null", "Null", "NULL":
		return "", nil
	default:
		return value, nil
	}
}

// yamlFold joins the lines of a value: a line break is a space, further ones stay.
type yamlFold struct {
	strings.Builder
	breaks int
}

func (f *yamlFold) add(line string) {
	switch {
	case line == "":
		f.breaks++
		return
	case f.Len() == 0:
	case f.breaks == 0:
		f.WriteByte(' ')
	default:
		f.WriteString(strings.Repeat("\n", f.breaks))
	}
	f.breaks = 0
	f.WriteString(line)
}

// yamlQuoted reads a value from behind its first quote on, and returns what follows the last one.
func yamlQuoted(text string, quote byte) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote && quote == '\'' && strings.HasPrefix(text[i+1:], "'"):
			b.WriteByte(c)
			i++
		case c == quote:
			return b.String(), text[i+1:], nil
		case c == '\n':
			i += foldBreaks(&b, text[i:]) - 1
		case c == '\\' && quote == '"':
			n, err := yamlEscape(&b, text[i+1:])
			if err != nil {
				return "", "", err
			}
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("the closing quote is missing")
}

// foldBreaks writes what the line breaks and spaces at the beginning of a text stand for, and returns how many
// bytes they have.
func foldBreaks(b *strings.Builder, text string) int {
	before := strings.TrimRight(b.String(), " \t")
	b.Reset()
	b.WriteString(before)
	blank := text[:len(text)-len(strings.TrimLeft(text, " \t\n"))]
	if breaks := strings.Count(blank, "\n"); breaks > 1 {
		b.WriteString(strings.Repeat("\n", breaks-1))
	} else {
		b.WriteByte(' ')
	}
	return len(blank)
}

var yamlEscapes = map[byte]string{'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v",
	'f': "\f", 'r': "\r", 'e': "\x1b", ' ': " ", '"': `"`, '\\': `\`, 'N': "\u0085",
	'_': "\u00a0", 'L': "\u2028", 'P': "\u2029"}

// yamlEscape writes what an escape, without its backslash, stands for, and returns how many bytes it has.
func yamlEscape(b *strings.Builder, text string) (int, error) {
	if text == "" {
		return 0, errors.New("the closing quote is missing")
	}
	if text[0] == '\n' {
		return len(text) - len(strings.TrimLeft(text, " \t\n")), nil
	}
	if s, ok := yamlEscapes[text[0]]; ok {
		b.WriteString(s)
		return 1, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]
	if digits == 0 || len(text) <= digits {
		return 0, fmt.Errorf("\\%s is no escape of YAML", text[:1])
	}
	code, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil {
		return 0, fmt.Errorf("\\%s is no escape of YAML", text[:1+digits])
	}
	b.WriteRune(rune(code))
	return 1 + digits, nil
}

// yamlBlock reads a value in block style: with its line breaks (|), or folded (>).
func yamlBlock(text string) (string, error) {
	header, body, _ := strings.Cut(text, "\n")
	header, _, _ = strings.Cut(header, " ")
	style, chomp := header[0], strings.Trim(header[1:], "123456789")
	if len(header) > 3 || len(chomp) > 1 || strings.Trim(chomp, "+-") != "" {
		return "", fmt.Errorf("%q: want |, > or one of them with + or -", header)
	}
	lines := strings.Split(body, "\n")
	indent, _ := strconv.Atoi(strings.Trim(header[1:], "+-"))
	for i := 0; indent == 0 && i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			indent = len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
		}
	}
	var folded yamlFold
	for i, line := range lines {
		if len(line) >= indent && strings.TrimSpace(line[:indent]) == "" {
			lines[i] = line[indent:]
		} else if strings.TrimSpace(line) != "" {
			return "", fmt.Errorf("%q is indented less than the first line", line)
		} else {
			lines[i] = ""
		}
		folded.add(lines[i])
	}
	value := strings.Join(lines, "\n")
	if style == '>' {
		value = folded.String()
	}
	switch trimmed := strings.TrimRight(value, "\n"); {
	case chomp == "-" || trimmed == "":
		return trimmed, nil
	case chomp == "+":
		return value + "\n", nil
	default:
		return trimmed + "\n", nil
	}
}
