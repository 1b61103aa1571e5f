package events

import (
	"math"
	"time"
)

// The objects of effects that are no requests.

func (e Connect) appendJSON(b []byte, _ effectContext) []byte {
	return append(appendInt(append(b, `{"connect":`...), e.Session), '}')
}

func (e *Connect) read(f *fields, key string) bool { return readSession(f, key, "connect", &e.Session) }

// readSession reads the session's number that is the first field of an effect.
func readSession(f *fields, key, first string, session *int64) bool {
	if key == first {
		*session = f.text.int64()
	}
	return key == first
}

func (e CloseSession) appendJSON(b []byte, _ effectContext) []byte {
	return append(appendInt(append(b, `{"close":`...), e.Session), '}')
}

func (e *CloseSession) read(f *fields, key string) bool {
	return readSession(f, key, "close", &e.Session)
}

func (e Abandon) appendJSON(b []byte, _ effectContext) []byte {
	return append(appendInt(append(b, `{"abandon":`...), e.Session), '}')
}

func (e *Abandon) read(f *fields, key string) bool { return readSession(f, key, "abandon", &e.Session) }

func (e Leave) appendJSON(b []byte, _ effectContext) []byte {
	b = appendInt(append(b, `{"leave":`...), e.Session)
	return append(phrase(b, `,"code":`, string(e.Code)), '}')
}

func (e *Leave) read(f *fields, key string) bool {
	if key == "code" {
		e.Code = Code(f.text.string())
		return true
	}
	return readSession(f, key, "leave", &e.Session)
}

// untilDeadline is the After of a timer while its line is read, if the line has none: it runs until the record's
// Deadline.
const untilDeadline = time.Duration(math.MinInt64)

func (e SetTimer) appendJSON(b []byte, c effectContext) []byte {
	b = c.appendNumber(appendString(append(b, `{"timer":`...), e.Name), e.Request)
	if c.deadline == 0 || int64(e.After) != c.deadline-c.at {
		b = appendInt(append(b, `,"after":`...), int64(e.After))
	}
	return append(b, '}')
}

func (e *SetTimer) read(f *fields, key string) bool {
	switch key {
	case "timer":
		e.Name, e.After = f.text.string(), untilDeadline
	case "req":
		e.Request = f.text.uint64()
	case "after":
		e.After = time.Duration(f.text.int64())
	default:
		return false
	}
	return true
}

// The object of a StopTimer has the name of the machine's last timer of a name, or the timer's number.
func (e StopTimer) appendJSON(b []byte, c effectContext) []byte {
	name := c.here.timerOf(e.Request)
	b = appendString(append(b, `{"stop":`...), name)
	if name == "" {
		b = appendUint(append(b, `,"req":`...), e.Request)
	}
	return append(b, '}')
}

func stopReader(f *fields) effectReader {
	e := &StopTimer{Request: follows}
	name := new(string)
	whole := func() Effect { return *e }
	return effectReader{number: &e.Request, stops: name, effect: whole, field: func(key string) bool {
		switch key {
		case "stop":
			*name = f.text.string()
		case "req":
			e.Request = f.text.uint64()
		default:
			return false
		}
		return true
	}}
}

func (e Tell) appendJSON(b []byte, _ effectContext) []byte {
	b = appendString(append(b, `{"tell":`...), string(e.To))
	b = phrase(b, `,"event":`, string(e.Event.Kind))
	return append(phrase(b, `,"path":`, e.Event.Path), '}')
}

func (e *Tell) read(f *fields, key string) bool {
	switch key {
	case "tell":
		e.To = ID(f.text.string())
	case "event":
		e.Event.Kind = Kind(f.text.string())
	case "path":
		e.Event.Path = f.text.string()
	default:
		return false
	}
	return true
}

func (e Deadline) appendJSON(b []byte, c effectContext) []byte {
	b = append(b, `{"deadline":`...)
	if e.Until == 0 {
		return append(b, "null}"...)
	}
	return append(appendInt(b, e.Until-c.base), '}')
}

// counted is the Alone of a deadline while its line is read: Until is counted from the record's base.
const counted = 1

func (e *Deadline) read(f *fields, key string) bool {
	if key != "deadline" {
		return false
	}
	if f.text.next() == 'n' {
		f.null()
	} else {
		e.Until, e.Alone = f.text.int64(), counted
	}
	return true
}

func (e Entered) appendJSON(b []byte, _ effectContext) []byte {
	return append(appendString(append(b, `{"entered":`...), e.State), '}')
}

func (e *Entered) read(f *fields, key string) bool { return readPath(f, key, "entered", &e.State) }

func (e Answer) appendJSON(b []byte, _ effectContext) []byte {
	b = appendUint(append(b, `{"answer":`...), e.Command)
	b = phrase(b, `,"code":`, string(e.Code))
	return append(phrase(b, `,"text":`, e.Text), '}')
}

func (e *Answer) read(f *fields, key string) bool {
	switch key {
	case "answer":
		e.Command = f.text.uint64()
	case "code":
		e.Code = Code(f.text.string())
	case "text":
		e.Text = f.text.string()
	default:
		return false
	}
	return true
}

func (e Notify) appendJSON(b []byte, c effectContext) []byte {
	b = appendString(append(b, `{"notify":`...), string(e.What))
	if e.What == Elected || e.What == Stopped {
		b = c.clock.appendWall(b, c.at)
	}
	b = phrase(b, `,"path":`, e.Path)
	b = signed(b, `,"token":`, e.Token)
	b = signed(b, `,"owner":`, e.Owner)
	b = unsigned(b, `,"work":`, e.Work)
	b = signed(b, `,"try":`, int64(e.Try))
	b = signed(b, `,"ahead":`, int64(e.Ahead))
	b = phrase(b, `,"behind":`, e.Behind)
	b = signed(b, `,"value":`, e.Value)
	b = phrase(b, `,"code":`, string(e.Code))
	b = phrase(b, `,"reason":`, string(e.Reason))
	b = signed(b, `,"paused":`, int64(e.Paused))
	b = phrase(b, `,"text":`, e.Text)
	b = flagged(b, `,"silent":`, e.Silent)
	if len(e.Guards) > 0 {
		b = appendOps(append(b, `,"guards":`...), e.Guards)
	}
	if e.Names != nil {
		b = appendArray(b, `,"names":`, e.Names)
	}
	return append(appendData(b, e.Data), '}')
}

func (e *Notify) read(f *fields, key string) bool {
	t := &f.text
	switch key {
	case "notify":
		e.What = Notice(t.string())
	case "wall": // it follows from the lines before
		t.string()
	case "path":
		e.Path = t.string()
	case "token":
		e.Token = t.int64()
	case "owner":
		e.Owner = t.int64()
	case "reason":
		e.Reason = Reason(t.string())
	case "code":
		e.Code = Code(t.string())
	case "text":
		e.Text = t.string()
	default:
		return e.readMore(f, key)
	}
	return true
}

// readMore reads the fields that few notices have.
func (e *Notify) readMore(f *fields, key string) bool {
	t := &f.text
	switch key {
	case "work":
		e.Work = t.uint64()
	case "try":
		e.Try = int(t.int64())
	case "ahead":
		e.Ahead = int(t.int64())
	case "behind":
		e.Behind = t.string()
	case "value":
		e.Value = t.int64()
	case "paused":
		e.Paused = time.Duration(t.int64())
	case "silent":
		e.Silent = t.bool()
	case "guards":
		e.Guards = f.ops()
	case "names":
		e.Names = t.strings()
	default:
		return readData(f, key, &e.Data)
	}
	return true
}
