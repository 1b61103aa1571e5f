package digestmd5

import (
	"errors"
	"fmt"
	"strings"
)

// directives are the parts of a message, key=value or key="value".
type directives map[string]string

// maxMessage is the longest message in bytes, as RFC 2831 limits the answer to a challenge (4096; a challenge: 2048).
const maxMessage = 4096

// parse reads a message. Of several realms it keeps the first; anything else that comes twice is an error. Errors do
// not repeat values.
func parse(message []byte) (directives, error) {
	if len(message) > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes: it may have %d", len(message), maxMessage)
	}
	found := directives{}
	for rest := strings.TrimLeft(string(message), " \t,"); rest != ""; rest = strings.TrimLeft(rest, " \t,") {
		key, after, ok := strings.Cut(rest, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !ok || key == "" || strings.ContainsAny(key, ` ",`) {
			return nil, errors.New("a message that is not made of key=value")
		}
		value, after, err := parseValue(strings.TrimLeft(after, " \t"))
		if err != nil {
			return nil, err
		}
		rest = strings.TrimLeft(after, " \t")
		if rest != "" && rest[0] != ',' {
			return nil, errors.New("a message without a comma between its parts")
		}
		if _, twice := found[key]; twice && key != "realm" {
			return nil, fmt.Errorf("a message with two of %.20q", key)
		} else if !twice {
			found[key] = value
		}
	}
	return found, nil
}

// parseValue returns the value at the begin of a text, and what follows it. In quotes, a backslash stands before a
// character that is to be taken as it is.
func parseValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, ", \t")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], nil
		case '\\':
			if i++; i == len(text) {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", errors.New("a message with a quote that is not closed")
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quote returns a value in quotes.
func quote(value string) string { return `"` + escape.Replace(value) + `"` }
