package events

import (
	"errors"
	"fmt"
	"strings"
)

var errOwn = errors.New(`the stat's owner is "own", but no session is attached`)

// fill sets what a line leaves out.
func (m *memory) fill(f *fields) error {
	r, e, has := &f.r, &f.r.Event, f.has
	for _, key := range []string{"seq", "row"} {
		if !has[key] {
			return errors.New("no field \"" + key + "\"")
		}
	}
	if !has["id"] {
		if r.Machine = m.machine; r.Machine == "" {
			return errors.New(`no field "id"`)
		}
	}
	m.meet(r.Machine)
	if !has["kind"] {
		kind, _, _ := strings.Cut(r.Row, " ")
		e.Kind = Kind(kind)
	}
	if !known[e.Kind] { // what follows from the lines before depends on it
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	if err := m.fillCause(f); err != nil {
		return err
	}
	if !has["from"] {
		r.From = m.here.state
	}
	if !has["to"] {
		r.To = r.From
	}
	e.At += m.start
	if !has["at"] {
		e.At = m.at + f.since
	}
	m.fillMoments(f)
	if err := m.fillEffects(f); err != nil {
		return err
	}
	if !has["name"] {
		e.Name = m.expectedName(r)
	}
	if !has["recipe"] {
		e.Recipe = expectedRecipe(r)
	}
	if !has["chart"] {
		r.Chart = m.expectedChart(r)
	}
	if !has["options"] {
		e.Options = m.expectedOptions(e)
	}
	if f.before = m.triedBefore(r); !has["tried"] {
		r.Tried = f.before.tried
	} else if len(r.Tried) == 0 {
		r.Tried = nil
	}
	if f.own {
		if m.sessionID == 0 || e.Stat.EphemeralOwner != 0 {
			return errOwn
		}
		e.Stat.EphemeralOwner = m.sessionID
	}
	return m.fillNames(f)
}

// fillCause sets the request that an event answers, and its cause.
func (m *memory) fillCause(f *fields) error {
	r, has := &f.r, f.has
	switch {
	case has["reply"]:
		asked, known := m.asked(r)
		if !known || r.Cause != 0 {
			return fmt.Errorf("no record before has the request %d of %s", r.Event.Request, r.Machine)
		}
		r.Cause = asked
	case !has["req"] && !has["cause"] && !has["inner"]:
		if last, ok := m.answered(&r.Event); ok {
			r.Event.Request, r.Cause = last.number, last.seq
		}
	}
	return nil
}

func (m *memory) fillMoments(f *fields) {
	e, has := &f.r.Event, f.has
	if has["sent"] {
		e.SentAt += e.At
	}
	k, contact, id, timeout := m.expected(e.Kind, e.SentAt)
	if !has["session"] {
		e.Session = k.session
	}
	if !has["attached"] {
		e.Attached = k.attached
	}
	if !has["sessionID"] {
		e.SessionID = id
	}
	if !has["timeout"] {
		e.Timeout = timeout
	}
	for _, one := range []struct {
		key      string
		v        *int64
		expected int64
	}{{"validUntil", &e.ValidUntil, k.validUntil}, {"askAt", &e.AskAt, k.askAt}, {"contact", &e.Contact, contact}} {
		switch {
		case !has[one.key]:
			*one.v = one.expected
		case !has[one.key+" is none"]:
			*one.v += e.At
		}
	}
}

// fillNames puts a list of children in place of a difference.
func (m *memory) fillNames(f *fields) (err error) {
	if e := &f.r.Event; f.has["of"] {
		e.Children, err = m.listed(e.Path, f.of, f.minus, f.plus, f.into)
	}
	return err
}
