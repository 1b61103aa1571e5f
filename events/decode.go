package events

import "time"

// fields is a line's record before what was left out is filled in.
type fields struct {
	r    Record
	text text

	has map[string]bool // of the fields whose absence has a meaning

	since       int64 // the line before
	own         bool  // the stat's owner is this session
	of          uint64
	minus, plus []string
	into        []int
	effects     []effectReader
	unknown     []string
	kept        []byte // the unknown fields, as they are in the line
	before      triedBefore
}

// optional are the fields that a line may leave out although they are not zero.
var optional = map[string]bool{
	"at": true, "inner": true, "from": true, "kind": true, "to": true, "sent": true, "contact": true, "session": true,
	"sessionID": true, "timeout": true, "attached": true, "validUntil": true, "askAt": true, "name": true,
	"recipe": true, "chart": true, "options": true,
	"tried": true, "of": true,
	"seq": true, "id": true, "reply": true, "req": true, "cause": true, "row": true, "children": true,
}

// record reads a line's record, and updates the memory. It returns the names of fields
// that it does not know.
func (m *memory) record(line []byte) (Record, []string, error) {
	f := fields{text: text{b: line}, has: map[string]bool{}}
	f.text.object(f.field)
	f.text.end()
	f.r.Unknown = string(f.kept)
	if f.text.err == nil {
		f.text.err = m.fill(&f)
	}
	if f.text.err != nil {
		return Record{}, nil, f.text.err
	}
	m.learn(&f.r, f.before)
	return f.r, f.unknown, nil
}

func (f *fields) field(key string) {
	if optional[key] {
		f.has[key] = true
	}
	r, t := &f.r, &f.text
	switch key {
	case "seq":
		r.Seq = t.uint64()
	case "id":
		r.Machine = ID(t.string())
	case "inner", "cause":
		r.Cause = t.uint64()
		r.Internal = r.Internal || key == "inner"
	case "req", "reply":
		r.Event.Request = t.uint64()
	case "from":
		r.From = t.string()
	case "row":
		r.Row = t.string()
	case "to":
		r.To = t.string()
	case "tried":
		r.Tried = t.strings()
	case "do":
		t.array(f.effect)
	default:
		if !f.answer(key) && !f.node(key) && !f.session(key) && !f.command(key) {
			f.more(key)
		}
	}
}

func (f *fields) answer(key string) bool {
	e, t := &f.r.Event, &f.text
	switch key {
	case "kind":
		e.Kind = Kind(t.string())
	case "at":
		e.At = t.int64()
	case "dt":
		f.since = t.int64()
	case "code":
		e.Code = Code(t.string())
	case "text":
		e.Text = t.string()
	case "zxid":
		e.Zxid = t.int64()
	case "sent":
		e.SentAt = t.int64()
	case "contact":
		e.Contact = f.moment(key)
	case "paused":
		e.Paused = t.int64()
	default:
		return false
	}
	return true
}

func (f *fields) node(key string) bool {
	e, t := &f.r.Event, &f.text
	switch key {
	case "path":
		e.Path = t.string()
	case "children":
		e.Children = t.strings()
	case "of":
		f.of = t.uint64()
	case "minus":
		f.minus = t.strings()
	case "plus":
		f.plus = t.strings()
	case "into":
		t.array(func() { f.into = append(f.into, int(t.int32())) })
	case "stat":
		e.Stat = &Stat{}
		f.stat(e.Stat)
	case "data":
		e.Data = t.bytes()
	default:
		return false
	}
	return true
}

func (f *fields) session(key string) bool {
	e, t := &f.r.Event, &f.text
	switch key {
	case "session":
		e.Session = t.int64()
	case "sessionID":
		e.SessionID = t.int64()
	case "timeout":
		e.Timeout = t.int64()
	case "server":
		e.Server = t.string()
	case "address":
		e.Address = t.string()
	case "end":
		e.End = ConnectionEnd(t.string())
	case "reattached":
		e.Reattached = t.bool()
	case "attached":
		e.Attached = t.bool()
	case "validUntil":
		e.ValidUntil = f.moment(key)
	case "askAt":
		e.AskAt = f.moment(key)
	case "readBack":
		e.ReadBack = t.bool()
	case "noContainers":
		e.NoContainers = t.bool()
	default:
		return false
	}
	return true
}

func (f *fields) command(key string) bool {
	e, t := &f.r.Event, &f.text
	switch key {
	case "name":
		e.Name = t.string()
	case "work":
		e.Work = t.uint64()
	case "silent":
		e.Silent = t.bool()
	case "recipe":
		e.Recipe = t.string()
	case "chart":
		f.r.Chart = t.string()
	case "seed":
		e.Seed = t.string()
	case "options":
		e.Options = t.options()
	case "ops":
		e.Ops = f.ops()
	default:
		return false
	}
	return true
}

// moment reads an instant, relative to the event's; null is none.
func (f *fields) moment(key string) int64 {
	if f.text.next() == 'n' {
		f.has[key+" is none"] = true
		f.null()
		return 0
	}
	return f.text.int64()
}

// null reads the value that says none.
func (f *fields) null() {
	if string(f.text.raw()) != "null" {
		f.text.fail("want a number or null")
	}
}

func (f *fields) stat(s *Stat) {
	t := &f.text
	mzxid := false
	t.object(func(key string) {
		switch key {
		case "czxid":
			s.Czxid = t.int64()
		case "mzxid":
			s.Mzxid, mzxid = t.int64(), true
		case "mtime":
			s.Mtime = t.int64()
		case "ephemeralOwner":
			s.EphemeralOwner = t.int64()
		case "own":
			f.own = t.bool()
		case "version":
			s.Version = t.int32()
		case "numChildren":
			s.NumChildren = t.int32()
		case "pzxid":
			s.Pzxid = t.int64()
		default:
			f.more("stat." + key)
		}
	})
	if !mzxid {
		s.Mzxid = s.Czxid
	}
}

func (f *fields) op() (o Op) {
	t := &f.text
	t.object(func(key string) {
		switch key {
		case "verb":
			o.Verb = t.string()
		case "path":
			o.Path = t.string()
		case "mode":
			o.Mode = Mode(t.string())
		case "ttl":
			o.TTL = time.Duration(t.int64())
		case "data":
			o.Data = t.bytes()
		case "payload":
			o.Payload = t.uint64()
		case "version":
			o.Version = t.int32()
		default:
			f.more("ops." + key)
		}
	})
	return o
}

// more keeps a field that only a newer version knows.
func (f *fields) more(key string) {
	value := f.text.raw()
	f.unknown = append(f.unknown, key)
	f.kept = append(append(appendString(append(f.kept, ','), key), ':'), value...)
}
