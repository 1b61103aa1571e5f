package events

import (
	"cmp"
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// An effect is an object in a log. Its first field says what it is, and docs/flight-log.md describes each. An effect's
// appendJSON writes the object, and its read reads one field of it. What its String leaves out, the log does, too.

// effectContext is what the object of an effect depends on besides the effect.
type effectContext struct {
	base     int64  // the instant from which a deadline is counted
	at       int64  // of the record
	deadline int64  // of the record
	here     *about // the record's machine; nil: numbers are written in full
	clock    *wallClock
}

// context returns the context of a record's effects.
func (m *memory) context(r *Record) effectContext {
	return effectContext{base: baseOf(&r.Event), at: r.Event.At, deadline: r.Deadline, here: m.here, clock: &m.clock}
}

// baseOf returns the instant from which the deadlines of an event's record are counted.
func baseOf(e *Event) int64 { return cmp.Or(e.SentAt, e.At) }

// effectKinds has a reader for each effect, by the first field of its object.
var effectKinds = map[string]func(f *fields) effectReader{
	"create": readerOf((*Create).read), "delete": readerOf((*Delete).read), "get": readerOf((*Get).read),
	"exists": readerOf((*Exists).read), "children": readerOf((*Children).read), "addwatch": readerOf((*AddWatch).read),
	"multi": readerOf((*Multi).read), "sync": readerOf((*Sync).read), "connect": readerOf((*Connect).read),
	"close": readerOf((*CloseSession).read), "abandon": readerOf((*Abandon).read), "leave": readerOf((*Leave).read),
	"timer": readerOf((*SetTimer).read), "stop": stopReader, "tell": readerOf((*Tell).read),
	"deadline": readerOf((*Deadline).read), "notify": readerOf((*Notify).read), "entered": readerOf((*Entered).read),
	"answer": readerOf((*Answer).read),
}

// appendEffect appends an effect's object. A reader refuses that of an effect of another package: no machine sends one.
func appendEffect(b []byte, e Effect, c effectContext) []byte {
	if one, is := e.(interface {
		appendJSON(b []byte, c effectContext) []byte
	}); is {
		return one.appendJSON(b, c)
	}
	return append(appendString(append(b, `{"other":`...), e.String()), '}')
}

// MarshalJSON returns an array of the objects that a log has, but with deadlines by the loop's clock.
func (e Effects) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, effect := range e {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEffect(b, effect, effectContext{})
	}
	return append(b, ']'), nil
}

// effectReader reads the fields of one effect.
type effectReader struct {
	field  func(key string) bool // reports whether the effect has such a field
	effect func() Effect
	number *uint64 // of a request or timer, follows if the object does not have it
	stops  *string // the name of the timer that a StopTimer stops
}

// readerOf returns what makes readers of one kind of effect.
func readerOf[E Effect](read func(e *E, f *fields, key string) bool) func(f *fields) effectReader {
	return func(f *fields) effectReader {
		e := new(E)
		r := effectReader{
			field:  func(key string) bool { return read(e, f, key) },
			effect: func() Effect { return *e },
		}
		if one, is := any(e).(interface{ number() *uint64 }); is {
			r.number = one.number()
			*r.number = follows
		}
		return r
	}
}

// follows is the number of a request or timer whose object does not have it.
const follows = math.MaxUint64

func (c *Call) number() *uint64     { return &c.Request }
func (e *SetTimer) number() *uint64 { return &e.Request }

// effect reads an effect.
func (f *fields) effect() {
	var r effectReader
	f.text.object(func(key string) {
		if r.field == nil {
			kind := effectKinds[key]
			if kind == nil {
				f.text.fail("unknown effect %q", key)
				return
			}
			r = kind(f)
		}
		if !r.field(key) {
			f.more("do." + key)
		}
	})
	if f.text.err == nil && r.field == nil {
		f.text.fail("an effect without a field")
	}
	f.effects = append(f.effects, r)
}

// fillEffects sets the effects of a line, and what they leave to its other fields, and remembers what they ask for.
func (m *memory) fillEffects(f *fields) error {
	r := &f.r
	for _, one := range f.effects {
		if one.number != nil && *one.number == follows {
			if err := m.fillNumber(r.Machine, one); err != nil {
				return err
			}
		}
		effect := one.effect()
		if d, is := effect.(Deadline); is && d.Alone == counted {
			effect = Deadline{Until: d.Until + baseOf(&r.Event)}
		}
		r.Effects = append(r.Effects, effect)
		m.ask(r, effect)
	}
	r.Deadline, r.Reason = r.Effects.Facts()
	for i, effect := range r.Effects {
		if timer, is := effect.(SetTimer); is && timer.After == untilDeadline {
			if r.Deadline == 0 {
				return fmt.Errorf("the timer %q runs until the deadline, but the record has none", timer.Name)
			}
			timer.After = time.Duration(r.Deadline - r.Event.At)
			r.Effects[i] = timer
		}
	}
	return nil
}

// fillNumber sets the number of a request or timer whose object does not have it.
func (m *memory) fillNumber(machine ID, one effectReader) error {
	if one.stops == nil {
		*one.number = m.here.last + 1
		return nil
	}
	timer, known := m.here.lastAsked(TimerFired, *one.stops)
	if !known {
		return fmt.Errorf("%s has set no timer %q, which is stopped", machine, *one.stops)
	}
	*one.number = timer.number
	return nil
}

// appendJSON appends the object of a request that no log has: each that a machine sends has a method of its own.
func (c Call) appendJSON(b []byte, of effectContext) []byte {
	return append(c.appendTo(append(b, `{"request":true`...), of), '}')
}

// appendTo appends the fields that all requests share.
func (c Call) appendTo(b []byte, of effectContext) []byte {
	b = of.appendNumber(b, c.Request)
	b = flagged(b, `,"urgent":`, c.Urgent)
	return flagged(b, `,"keep":`, c.Keep)
}

// appendNumber appends the number of a request or timer, unless it is the machine's next one.
func (c effectContext) appendNumber(b []byte, number uint64) []byte {
	if c.here != nil && number == c.here.last+1 {
		return b
	}
	return appendUint(append(b, `,"req":`...), number)
}

func (c *Call) read(f *fields, key string) bool {
	switch key {
	case "req":
		c.Request = f.text.uint64()
	case "urgent":
		c.Urgent = f.text.bool()
	case "keep":
		c.Keep = f.text.bool()
	default:
		return false
	}
	return true
}

// appendData appends a node's data: as text if they are text.
func appendData(b, data []byte) []byte {
	switch {
	case len(data) == 0:
		return b
	case utf8.Valid(data):
		return appendString(append(b, `,"data":`...), data)
	}
	return appendBase64(append(b, `,"base64":`...), data)
}

func readData(f *fields, key string, into *[]byte) bool {
	switch key {
	case "data":
		*into = []byte(f.text.string())
	case "base64":
		*into = f.text.bytes()
	default:
		return false
	}
	return true
}

func (e Create) appendJSON(b []byte, c effectContext) []byte {
	b = appendString(append(b, `{"create":`...), e.Path)
	b = e.Call.appendTo(b, c)
	b = phrase(b, `,"mode":`, string(e.Mode))
	b = signed(b, `,"ttl":`, int64(e.TTL))
	b = appendData(b, e.Data)
	b = unsigned(b, `,"payload":`, e.Payload)
	if e.With.Path != "" {
		b = appendOp(append(b, `,"with":`...), &e.With)
	}
	return append(b, '}')
}

func (e *Create) read(f *fields, key string) bool {
	t := &f.text
	switch key {
	case "create":
		e.Path = t.string()
	case "mode":
		e.Mode = Mode(t.string())
	case "ttl":
		e.TTL = time.Duration(t.int64())
	case "payload":
		e.Payload = t.uint64()
	case "with":
		e.With = f.op()
	default:
		return readData(f, key, &e.Data) || e.Call.read(f, key)
	}
	return true
}

func (e Delete) appendJSON(b []byte, c effectContext) []byte {
	return append(e.Call.appendTo(appendString(append(b, `{"delete":`...), e.Path), c), '}')
}

func (e *Delete) read(f *fields, key string) bool {
	return readPath(f, key, "delete", &e.Path) || e.Call.read(f, key)
}

// readPath reads the path that is the first field of an effect.
func readPath(f *fields, key, first string, path *string) bool {
	if key == first {
		*path = f.text.string()
	}
	return key == first
}

func (e Get) appendJSON(b []byte, c effectContext) []byte {
	b = e.Call.appendTo(appendString(append(b, `{"get":`...), e.Path), c)
	b = flagged(b, `,"data":`, e.Data)
	return append(flagged(b, `,"watch":`, e.Watch), '}')
}

func (e *Get) read(f *fields, key string) bool {
	if key == "data" {
		e.Data = f.text.bool()
		return true
	}
	return readPath(f, key, "get", &e.Path) || readWatch(f, key, &e.Watch) || e.Call.read(f, key)
}

func readWatch(f *fields, key string, watch *bool) bool {
	if key == "watch" {
		*watch = f.text.bool()
	}
	return key == "watch"
}

func (e Exists) appendJSON(b []byte, c effectContext) []byte {
	b = e.Call.appendTo(appendString(append(b, `{"exists":`...), e.Path), c)
	return append(flagged(b, `,"watch":`, e.Watch), '}')
}

func (e *Exists) read(f *fields, key string) bool {
	return readPath(f, key, "exists", &e.Path) || readWatch(f, key, &e.Watch) || e.Call.read(f, key)
}

func (e Children) appendJSON(b []byte, c effectContext) []byte {
	b = e.Call.appendTo(appendString(append(b, `{"children":`...), e.Path), c)
	return append(flagged(b, `,"watch":`, e.Watch), '}')
}

func (e *Children) read(f *fields, key string) bool {
	return readPath(f, key, "children", &e.Path) || readWatch(f, key, &e.Watch) || e.Call.read(f, key)
}

func (e AddWatch) appendJSON(b []byte, c effectContext) []byte {
	return append(e.Call.appendTo(appendString(append(b, `{"addwatch":`...), e.Path), c), '}')
}

func (e *AddWatch) read(f *fields, key string) bool {
	return readPath(f, key, "addwatch", &e.Path) || e.Call.read(f, key)
}

func (e Sync) appendJSON(b []byte, c effectContext) []byte {
	return append(e.Call.appendTo(appendString(append(b, `{"sync":`...), e.Path), c), '}')
}

func (e *Sync) read(f *fields, key string) bool {
	return readPath(f, key, "sync", &e.Path) || e.Call.read(f, key)
}

func (e Multi) appendJSON(b []byte, c effectContext) []byte {
	return append(e.Call.appendTo(appendOps(append(b, `{"multi":`...), e.Ops), c), '}')
}

func (e *Multi) read(f *fields, key string) bool {
	if key == "multi" {
		e.Ops = f.ops()
		return true
	}
	return e.Call.read(f, key)
}

func appendOps(b []byte, ops []Op) []byte {
	b = append(b, '[')
	for i := range ops {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendOp(b, &ops[i])
	}
	return append(b, ']')
}

func (f *fields) ops() (all []Op) {
	f.text.array(func() { all = append(all, f.op()) })
	return all
}
