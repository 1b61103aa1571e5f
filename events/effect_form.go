package events

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// form is the written form of an effect or of an operation: words with a space between two.
type form struct {
	b    []byte
	from int // where it begins in b
}

func begin(b []byte, first string) form {
	f := form{b, len(b)}
	f.word(first)
	return f
}

// key begins another word. What is appended to b next belongs to it.
func (f *form) key(s string) {
	if len(f.b) > f.from {
		f.b = append(f.b, ' ')
	}
	f.b = append(f.b, s...)
}

// The following append a word unless it has its zero value.

func (f *form) word(s string) {
	if s != "" {
		f.key(s)
	}
}

func (f *form) flag(on bool, word string) {
	if on {
		f.key(word)
	}
}

func (f *form) number(name string, n uint64) {
	if n != 0 {
		f.key(name)
		f.b = strconv.AppendUint(f.b, n, 10)
	}
}

func (f *form) span(name string, d time.Duration) {
	if d != 0 {
		f.key(name)
		f.b = append(f.b, d.String()...)
	}
}

func (f *form) quoted(name, s string) {
	if s != "" {
		f.key(name)
		f.b = strconv.AppendQuote(f.b, s)
	}
}

// ops appends operations.
func (f *form) ops(name string, all []Op) {
	if len(all) == 0 {
		return
	}
	f.key(name)
	f.b = append(f.b, '{')
	for i := range all {
		if i > 0 {
			f.b = append(f.b, "; "...)
		}
		f.b = all[i].appendTo(f.b)
	}
	f.b = append(f.b, '}')
}

// path appends a path. One with a character that ends words, or that a terminal would obey, is quoted.
func (f *form) path(p string) {
	if p != "" {
		f.key("")
		f.b = appendPathForm(f.b, p)
	}
}

func appendPathForm(b []byte, p string) []byte {
	for i := range len(p) {
		if c := p[i]; c >= utf8.RuneSelf || endsPath(rune(c)) {
			return appendOddPath(b, p)
		}
	}
	return append(b, p...)
}

// appendOddPath appends a path that may have to be quoted.
func appendOddPath(b []byte, p string) []byte {
	if strings.IndexFunc(p, endsPath) < 0 && utf8.ValidString(p) {
		return append(b, p...)
	}
	return strconv.AppendQuote(b, p)
}

// endsPath reports whether a path with this character is quoted.
func endsPath(r rune) bool {
	return r <= ' ' || r == '"' || r == ';' || r == '{' || r == '}' || r >= utf8.RuneSelf && !strconv.IsPrint(r) ||
		r == 0x7f
}

// names appends a list, also an empty one.
func (f *form) names(all []string) {
	if all == nil {
		return
	}
	f.key("(")
	for i, name := range all {
		if i > 0 {
			f.b = append(f.b, ',')
		}
		f.b = strconv.AppendQuote(f.b, name)
	}
	f.b = append(f.b, ')')
}

// begin begins the form of a request with its number and its verb.
func (c Call) begin(b []byte, verb string) form {
	f := form{b, len(b)}
	f.b = strconv.AppendUint(append(f.b, '#'), c.Request, 10)
	if c.Urgent {
		f.b = append(f.b, '!')
	}
	if c.Keep {
		f.b = append(f.b, '*')
	}
	f.key(verb)
	return f
}

// AppendTo appends the written form.
func (e Create) AppendTo(b []byte) []byte {
	f := e.begin(b, "create")
	f.path(e.Path)
	f.word(string(e.Mode))
	f.span("ttl=", e.TTL)
	f.quoted("data=", string(e.Data))
	f.number("payload=", e.Payload)
	if e.With.Path != "" {
		f.ops("with=", []Op{e.With})
	}
	return f.b
}

// AppendTo appends the written form.
func (e Delete) AppendTo(b []byte) []byte {
	f := e.begin(b, "delete")
	f.path(e.Path)
	return f.b
}

// AppendTo appends the written form.
func (e Get) AppendTo(b []byte) []byte {
	f := e.begin(b, "get")
	f.path(e.Path)
	f.flag(e.Data, "data")
	f.flag(e.Watch, "watch")
	return f.b
}

// AppendTo appends the written form.
func (e Exists) AppendTo(b []byte) []byte {
	f := e.begin(b, "exists")
	f.path(e.Path)
	f.flag(e.Watch, "watch")
	return f.b
}

// AppendTo appends the written form.
func (e Children) AppendTo(b []byte) []byte {
	f := e.begin(b, "children")
	f.path(e.Path)
	f.flag(e.Watch, "watch")
	return f.b
}

// AppendTo appends the written form.
func (e AddWatch) AppendTo(b []byte) []byte {
	f := e.begin(b, "addwatch")
	f.path(e.Path)
	f.word("recursive")
	return f.b
}

// AppendTo appends the written form.
func (e Multi) AppendTo(b []byte) []byte {
	f := e.begin(b, "multi")
	f.ops("", e.Ops)
	return f.b
}

// AppendTo appends the written form.
func (e Sync) AppendTo(b []byte) []byte {
	f := e.begin(b, "sync")
	f.path(e.Path)
	return f.b
}

// AppendTo appends the written form.
func (e Connect) AppendTo(b []byte) []byte {
	return strconv.AppendInt(append(b, "connect session "...), e.Session, 10)
}

// AppendTo appends the written form.
func (e CloseSession) AppendTo(b []byte) []byte {
	return strconv.AppendInt(append(b, "close session "...), e.Session, 10)
}

// AppendTo appends the written form.
func (e Abandon) AppendTo(b []byte) []byte {
	return strconv.AppendInt(append(b, "abandon session "...), e.Session, 10)
}

// AppendTo appends the written form.
func (e Leave) AppendTo(b []byte) []byte {
	return append(append(strconv.AppendInt(append(b, "leave session "...), e.Session, 10), ' '), e.Code...)
}

// AppendTo appends the written form.
func (e SetTimer) AppendTo(b []byte) []byte {
	f := Call{Request: e.Request}.begin(b, "timer")
	f.word(e.Name)
	f.key("")
	f.b = append(f.b, e.After.String()...)
	return f.b
}

// AppendTo appends the written form.
func (e StopTimer) AppendTo(b []byte) []byte {
	return strconv.AppendUint(append(b, "stop timer #"...), e.Request, 10)
}

// AppendTo appends the written form.
func (e Tell) AppendTo(b []byte) []byte {
	f := begin(b, "tell")
	f.word(string(e.To))
	f.word(string(e.Event.Kind))
	f.path(e.Event.Path)
	return f.b
}

// AppendTo appends the written form.
func (e Deadline) AppendTo(b []byte) []byte {
	if e.Until == 0 {
		return append(b, "valid until: unconfirmed"...)
	}
	return append(append(b, "valid until "...), time.Duration(e.Until).String()...)
}

// AppendTo appends the written form.
func (e Notify) AppendTo(b []byte) []byte {
	f := begin(b, "notify")
	f.word(string(e.What))
	f.path(e.Path)
	f.number("token=", uint64(e.Token))
	f.number("owner=", uint64(e.Owner))
	f.number("work=", e.Work)
	f.number("try=", uint64(e.Try))
	f.number("ahead=", uint64(e.Ahead))
	if e.Behind != "" {
		f.key("behind=")
		f.b = appendPathForm(f.b, e.Behind)
	}
	if e.What == Value { // also of 0
		f.key("value=")
		f.b = strconv.AppendInt(f.b, e.Value, 10)
	}
	f.word(string(e.Code))
	f.quoted("", e.Reason.String())
	f.span("paused=", e.Paused)
	f.quoted("", e.Text)
	f.flag(e.Silent, "silent")
	f.ops("guards=", e.Guards)
	f.names(e.Names)
	f.quoted("data=", string(e.Data))
	return f.b
}

// AppendTo appends the written form.
func (e Entered) AppendTo(b []byte) []byte { return append(append(b, "entered "...), e.State...) }

// AppendTo appends the written form.
func (e Answer) AppendTo(b []byte) []byte {
	f := begin(b, "answer")
	f.number("", e.Command)
	if e.Command == 0 {
		f.key("0")
	}
	f.word(string(e.Code))
	f.quoted("", e.Text)
	if e.Code == OK && e.Text == "" {
		f.key("ok")
	}
	return f.b
}

// appendTo appends the operation's written form inside a Multi. A create has no version,
// and any version is not written.
func (o *Op) appendTo(b []byte) []byte {
	f := begin(b, o.Verb)
	f.path(o.Path)
	f.word(string(o.Mode))
	f.span("ttl=", o.TTL)
	f.quoted("data=", string(o.Data))
	if o.Verb != "create" && o.Version != -1 {
		f.key("version=")
		f.b = strconv.AppendInt(f.b, int64(o.Version), 10)
	}
	f.number("payload=", o.Payload)
	return f.b
}

func (e Create) String() string       { return string(e.AppendTo(nil)) }
func (e Delete) String() string       { return string(e.AppendTo(nil)) }
func (e Get) String() string          { return string(e.AppendTo(nil)) }
func (e Exists) String() string       { return string(e.AppendTo(nil)) }
func (e Children) String() string     { return string(e.AppendTo(nil)) }
func (e AddWatch) String() string     { return string(e.AppendTo(nil)) }
func (e Multi) String() string        { return string(e.AppendTo(nil)) }
func (e Sync) String() string         { return string(e.AppendTo(nil)) }
func (e Connect) String() string      { return string(e.AppendTo(nil)) }
func (e CloseSession) String() string { return string(e.AppendTo(nil)) }
func (e Abandon) String() string      { return string(e.AppendTo(nil)) }
func (e Leave) String() string        { return string(e.AppendTo(nil)) }
func (e SetTimer) String() string     { return string(e.AppendTo(nil)) }
func (e StopTimer) String() string    { return string(e.AppendTo(nil)) }
func (e Tell) String() string         { return string(e.AppendTo(nil)) }
func (e Deadline) String() string     { return string(e.AppendTo(nil)) }
func (e Notify) String() string       { return string(e.AppendTo(nil)) }
func (e Entered) String() string      { return string(e.AppendTo(nil)) }
func (e Answer) String() string       { return string(e.AppendTo(nil)) }

// String returns the operation's written form inside a Multi.
func (o Op) String() string { return string(o.appendTo(nil)) }
