package events

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxExact is the largest number that every JSON reader keeps. What is larger is written
// as a string.
const maxExact = 1<<53 - 1

// appendInt appends an integer: as a string if other readers could not keep it.
func appendInt(b []byte, v int64) []byte {
	if v > maxExact || v < -maxExact {
		return append(strconv.AppendInt(append(b, '"'), v, 10), '"')
	}
	return strconv.AppendInt(b, v, 10)
}

func appendUint(b []byte, v uint64) []byte {
	if v > maxExact {
		return append(strconv.AppendUint(append(b, '"'), v, 10), '"')
	}
	return strconv.AppendUint(b, v, 10)
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string of ASCII and printable characters, so that a
// terminal shows it and executes nothing in it. Bytes that are not UTF-8 become U+FFFD.
func appendString[S []byte | string](b []byte, s S) []byte {
	return append(appendText(append(b, '"'), s), '"')
}

// asItIs has the bytes that stand for themselves in a string.
var asItIs = func() (all [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		all[c] = c != '"' && c != '\\'
	}
	return all
}()

// appendText appends what stands between the quotes of a string.
func appendText[S []byte | string](b []byte, s S) []byte {
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if asItIs[c] {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		if c < utf8.RuneSelf {
			b = appendEscaped(b, c)
			i++
		} else {
			r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			b = appendRune(b, r)
			i += size
		}
		from = i
	}
	return append(b, s[from:]...)
}

// appendEscaped appends an ASCII character that does not stand for itself in a string.
func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

func appendRune(b []byte, r rune) []byte {
	switch {
	case !isControl(r):
		return utf8.AppendRune(b, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return appendHex(appendHex(b, high), low)
	}
	return appendHex(b, r)
}

func appendHex(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

func appendBase64(b, data []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), data), '"')
}

// text reads JSON from a line. Its methods return the zero value after an error.
type text struct {
	b   []byte
	at  int
	err error
}

func (t *text) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

func (t *text) space() {
	for t.at < len(t.b) && (t.b[t.at] == ' ' || t.b[t.at] == '\t' || t.b[t.at] == '\n' || t.b[t.at] == '\r') {
		t.at++
	}
}

// next returns the byte of the next token, 0 at the end.
func (t *text) next() byte {
	t.space()
	if t.err != nil || t.at >= len(t.b) {
		return 0
	}
	return t.b[t.at]
}

// take skips a byte if it is the next token, and reports whether it was.
func (t *text) take(c byte) bool {
	if t.next() != c {
		return false
	}
	t.at++
	return true
}

func (t *text) want(c byte) {
	if !t.take(c) && t.err == nil {
		if t.at >= len(t.b) {
			t.fail("the line ends where %q was expected", c)
			return
		}
		t.fail("invalid character %q at column %d, where %q was expected", t.b[t.at], t.at+1, c)
	}
}

// end fails if more follows.
func (t *text) end() {
	if c := t.next(); c != 0 || t.err == nil && t.at < len(t.b) {
		t.fail("more than one value on the line: invalid character %q at column %d", t.b[t.at], t.at+1)
	}
}

// object calls member for each member of an object. It fails if a key stands there twice.
func (t *text) object(member func(key string)) {
	t.want('{')
	if t.take('}') {
		return
	}
	var seen keys
	for t.err == nil {
		key := t.string()
		if !seen.add(key) {
			t.fail("the field %q stands there twice", key)
		}
		t.want(':')
		if t.err == nil {
			member(key)
		}
		if t.take('}') {
			return
		}
		t.want(',')
	}
}

// keys are those of an object. They are in a map if there are more than a log's lines have.
type keys struct {
	few  [48]string
	n    int
	many map[string]bool
}

// add reports whether the key is new.
func (k *keys) add(key string) bool {
	if slices.Contains(k.few[:k.n], key) || k.many[key] {
		return false
	}
	switch {
	case k.n < len(k.few):
		k.few[k.n] = key
		k.n++
	case k.many == nil:
		k.many = map[string]bool{key: true}
	default:
		k.many[key] = true
	}
	return true
}

// array calls element for each element of an array.
func (t *text) array(element func()) {
	t.want('[')
	if t.take(']') {
		return
	}
	for t.err == nil {
		element()
		if t.take(']') {
			return
		}
		t.want(',')
	}
}

// string reads a string.
func (t *text) string() string {
	t.want('"')
	if t.err != nil {
		return ""
	}
	start, plain := t.at, true
	for t.at < len(t.b) && t.b[t.at] != '"' {
		switch c := t.b[t.at]; {
		case c == '\\':
			plain = false
			t.at++
		case c < ' ':
			t.fail("invalid character %q in a string at column %d", c, t.at+1)
			return ""
		}
		t.at++
	}
	if t.at >= len(t.b) {
		t.fail("a string has no end")
		return ""
	}
	t.at++
	if s, known := frequent[string(t.b[start:t.at-1])]; known { // the compiler makes no string of the key
		return s
	}
	if plain && utf8.Valid(t.b[start:t.at-1]) {
		return string(t.b[start : t.at-1])
	}
	var s string
	if err := json.Unmarshal(t.b[start-1:t.at], &s); err != nil {
		t.fail("%w", err)
	}
	return s
}

// frequent are strings of most lines, so that a reader makes none of them again.
var frequent = func() map[string]string {
	all := map[string]string{}
	for _, s := range []string{"seq", "id", "inner", "cause", "from", "row", "to", "tried", "deadline", "reason", "do",
		"kind", "at", "req", "code", "text", "zxid", "sent", "contact", "paused", "path", "children", "of", "minus",
		"plus", "into", "stat", "data", "session", "sessionID", "timeout", "attached", "validUntil", "askAt",
		"czxid", "mzxid", "mtime", "ephemeralOwner", "own", "version", "numChildren", "pzxid", "connected", "leading",
		"waiting", "listing", "verifying"} {
		all[s] = s
	}
	for _, k := range Kinds() {
		all[string(k)] = string(k)
	}
	return all
}()

// plainNumber reads a number of up to 18 digits. If there is something else, it reads nothing and reports false.
func (t *text) plainNumber() (n int64, ok bool) {
	t.space()
	end := t.at
	for end < len(t.b) && t.b[end] >= '0' && t.b[end] <= '9' {
		n = n*10 + int64(t.b[end]-'0')
		end++
	}
	if length := end - t.at; t.err != nil || length == 0 || length > 18 || end == len(t.b) {
		return 0, false
	}
	t.at = end
	return n, true
}

// digits returns the text of a number, or of a string of digits.
func (t *text) digits() string {
	if t.next() == '"' {
		return t.string()
	}
	start := t.at
	for t.at < len(t.b) && (t.b[t.at] == '-' || t.b[t.at] >= '0' && t.b[t.at] <= '9') {
		t.at++
	}
	return string(t.b[start:t.at])
}

func parsed[N any](t *text, parse func(string) (N, error)) (v N) {
	t.space()
	column, s := t.at+1, t.digits()
	v, err := parse(s)
	if err != nil {
		if numeric := (*strconv.NumError)(nil); errors.As(err, &numeric) {
			err = numeric.Err
		}
		t.fail("the number %q at column %d: %w", s, column, err)
	}
	return v
}

func (t *text) int64() int64 {
	if n, ok := t.plainNumber(); ok {
		return n
	}
	return parsed(t, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

func (t *text) int32() int32 {
	return parsed(t, func(s string) (int32, error) {
		v, err := strconv.ParseInt(s, 10, 32)
		return int32(v), err
	})
}

func (t *text) uint64() uint64 {
	if n, ok := t.plainNumber(); ok {
		return uint64(n)
	}
	return parsed(t, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
}

func (t *text) bool() bool {
	t.space()
	for i, word := range [...]string{"false", "true"} {
		if bytes.HasPrefix(t.b[min(t.at, len(t.b)):], []byte(word)) {
			t.at += len(word)
			return i == 1
		}
	}
	t.fail("at column %d true or false was expected", t.at+1)
	return false
}

func (t *text) bytes() []byte {
	b, err := base64.StdEncoding.Strict().DecodeString(t.string())
	if err != nil {
		t.fail("%w", err)
	}
	return b
}

func (t *text) strings() []string {
	all := []string{}
	t.array(func() { all = append(all, t.string()) })
	return all
}

func (t *text) options() map[string]string {
	all := map[string]string{}
	t.object(func(key string) { all[key] = t.string() })
	return all
}

// raw skips one value of any kind, and returns its bytes.
func (t *text) raw() []byte {
	t.space()
	start := t.at
	dec := json.NewDecoder(bytes.NewReader(t.b[t.at:]))
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		t.fail("%w", err)
		return nil
	}
	t.at += int(dec.InputOffset())
	return t.b[start:t.at]
}
