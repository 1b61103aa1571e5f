package events

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// appendRecord appends a record as an object without its end.
func (m *memory) appendRecord(b []byte, r *Record) []byte {
	e := &r.Event
	m.meet(r.Machine)
	b = appendUint(append(b, `{"seq":`...), r.Seq)
	b = m.appendTime(b, e.At)
	if r.Machine != m.machine || r.Machine == "" {
		b = appendString(append(b, `,"id":`...), string(r.Machine))
	}
	b = m.appendCause(b, r)
	if r.From != m.here.state {
		b = appendString(append(b, `,"from":`...), r.From)
	}
	b = appendString(append(b, `,"row":`...), r.Row)
	if kind, _, _ := strings.Cut(r.Row, " "); kind != string(e.Kind) {
		b = appendString(append(b, `,"kind":`...), string(e.Kind))
	}
	if r.To != r.From {
		b = appendString(append(b, `,"to":`...), r.To)
	}
	b = m.appendAnswer(b, e)
	b = m.appendNode(b, r)
	b = m.appendSession(b, e)
	b = m.appendCommand(b, r)
	before := m.triedBefore(r)
	if !slices.Equal(before.tried, r.Tried) {
		b = appendArray(b, `,"tried":`, r.Tried)
	}
	b = m.appendEffects(b, r)
	b = append(b, r.Unknown...)
	m.learn(r, before)
	return b
}

// appendEffects appends the effects.
func (m *memory) appendEffects(b []byte, r *Record) []byte {
	if len(r.Effects) == 0 {
		return b
	}
	c := m.context(r)
	b = append(b, `,"do":[`...)
	for i, effect := range r.Effects {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEffect(b, effect, c)
		m.ask(r, effect)
	}
	return append(b, ']')
}

// appendTime appends when an event was, if not with the one before.
func (m *memory) appendTime(b []byte, at int64) []byte {
	switch {
	case at == m.at:
		return b
	case m.machine == "": // there was none before
		return appendInt(append(b, `,"at":`...), at-m.start)
	}
	return appendInt(append(b, `,"dt":`...), at-m.at)
}

// appendCause appends what has caused a record, and the number of its request.
func (m *memory) appendCause(b []byte, r *Record) []byte {
	request := r.Event.Request
	if r.Internal {
		b = appendUint(append(b, `,"inner":`...), r.Cause)
		return unsigned(b, `,"req":`, request)
	}
	last, follows := m.answered(&r.Event)
	if follows && request == last.number && r.Cause == last.seq {
		return b
	}
	asked, known := m.asked(r)
	switch {
	case known && r.Cause == asked:
		return appendUint(append(b, `,"reply":`...), request)
	case r.Cause != 0:
		b = appendUint(append(b, `,"cause":`...), r.Cause)
	case request == 0 && follows:
		return append(b, `,"req":0`...)
	}
	return unsigned(b, `,"req":`, request)
}

// appendAnswer appends what all replies may have.
func (m *memory) appendAnswer(b []byte, e *Event) []byte {
	b = phrase(b, `,"code":`, string(e.Code))
	b = phrase(b, `,"text":`, e.Text)
	b = signed(b, `,"zxid":`, e.Zxid)
	if e.SentAt != 0 {
		b = appendInt(append(b, `,"sent":`...), e.SentAt-e.At)
	}
	if _, contact, _, _ := m.expected(e.Kind, e.SentAt); e.Contact != contact {
		b = moment(b, `,"contact":`, e.Contact, e.At)
	}
	return signed(b, `,"paused":`, e.Paused)
}

// appendNode appends what an event says about nodes.
func (m *memory) appendNode(b []byte, r *Record) []byte {
	e := &r.Event
	b = phrase(b, `,"path":`, e.Path)
	b = m.appendChildren(b, e)
	if e.Stat != nil {
		b = m.appendStat(append(b, `,"stat":`...), e.Stat)
	}
	if len(e.Data) > 0 {
		b = appendBase64(append(b, `,"data":`...), e.Data)
	}
	return b
}

// appendSession appends what an event says about the session, and what the session
// machine knew.
func (m *memory) appendSession(b []byte, e *Event) []byte {
	k, _, id, timeout := m.expected(e.Kind, e.SentAt)
	if e.Session != k.session {
		b = appendInt(append(b, `,"session":`...), e.Session)
	}
	if e.SessionID != id {
		b = appendInt(append(b, `,"sessionID":`...), e.SessionID)
	}
	if e.Timeout != timeout {
		b = appendInt(append(b, `,"timeout":`...), e.Timeout)
	}
	b = phrase(b, `,"server":`, e.Server)
	b = phrase(b, `,"address":`, e.Address)
	b = phrase(b, `,"end":`, string(e.End))
	b = flagged(b, `,"reattached":`, e.Reattached)
	if e.Attached != k.attached {
		b = strconv.AppendBool(append(b, `,"attached":`...), e.Attached)
	}
	if e.ValidUntil != k.validUntil {
		b = moment(b, `,"validUntil":`, e.ValidUntil, e.At)
	}
	if e.AskAt != k.askAt {
		b = moment(b, `,"askAt":`, e.AskAt, e.At)
	}
	b = flagged(b, `,"readBack":`, e.ReadBack)
	return flagged(b, `,"noContainers":`, e.NoContainers)
}

// appendCommand appends what commands and timers have.
func (m *memory) appendCommand(b []byte, r *Record) []byte {
	e := &r.Event
	if e.Name != m.expectedName(r) {
		b = appendString(append(b, `,"name":`...), e.Name)
	}
	b = unsigned(b, `,"work":`, e.Work)
	b = flagged(b, `,"silent":`, e.Silent)
	if e.Recipe != expectedRecipe(r) {
		b = appendString(append(b, `,"recipe":`...), e.Recipe)
	}
	if r.Chart != m.expectedChart(r) {
		b = appendString(append(b, `,"chart":`...), r.Chart)
	}
	b = phrase(b, `,"seed":`, e.Seed)
	if before := m.expectedOptions(e); !maps.Equal(before, e.Options) {
		b = appendOptions(append(b, `,"options":`...), e.Options)
	}
	if len(e.Ops) > 0 {
		b = appendOps(append(b, `,"ops":`...), e.Ops)
	}
	return b
}

// expectedName returns the event's Name if a line has none: a command.open has the
// machine's, and what a machine sends to the session machine has the sender's.
func (m *memory) expectedName(r *Record) string {
	switch kind := r.Event.Kind; {
	case kind == CommandOpen:
		return string(r.Machine)
	case r.Internal && (kind == HeartbeatWanted || kind == HeartbeatUnneeded):
		return string(m.machine)
	}
	return ""
}

// expectedRecipe returns the event's Recipe if a line has none.
func expectedRecipe(r *Record) string {
	if r.Event.Kind == CommandOpen {
		return recipeOf(r.Machine)
	}
	return ""
}

// expectedChart returns the record's Chart if a line has none: that of the machine of the same recipe that was opened
// last. So each segment says it once for a recipe, wherever records were dropped.
func (m *memory) expectedChart(r *Record) string {
	if r.Row != string(CommandOpen) {
		return ""
	}
	chart, _ := m.charts.get(r.Event.Recipe)
	return chart
}

// expectedOptions returns the options if a line has none: those of the machine of the
// same recipe that was opened last.
func (m *memory) expectedOptions(e *Event) map[string]string {
	if e.Kind != CommandOpen {
		return nil
	}
	options, _ := m.options.get(e.Recipe)
	return options
}

// appendStat appends a node's stat. Its mzxid is left out if it is the czxid, and its
// owner is "own" if it is the session of this log.
func (m *memory) appendStat(b []byte, s *Stat) []byte {
	b = appendInt(append(b, `{"czxid":`...), s.Czxid)
	if s.Mzxid != s.Czxid {
		b = appendInt(append(b, `,"mzxid":`...), s.Mzxid)
	}
	b = signed(b, `,"mtime":`, s.Mtime)
	switch s.EphemeralOwner {
	case 0:
	case m.sessionID:
		b = append(b, `,"own":true`...)
	default:
		b = appendInt(append(b, `,"ephemeralOwner":`...), s.EphemeralOwner)
	}
	b = signed(b, `,"version":`, int64(s.Version))
	b = signed(b, `,"numChildren":`, int64(s.NumChildren))
	b = signed(b, `,"pzxid":`, s.Pzxid)
	return append(b, '}')
}

func appendOp(b []byte, o *Op) []byte {
	b = appendString(append(b, `{"verb":`...), o.Verb)
	b = appendString(append(b, `,"path":`...), o.Path)
	b = phrase(b, `,"mode":`, string(o.Mode))
	b = signed(b, `,"ttl":`, int64(o.TTL))
	if len(o.Data) > 0 {
		b = appendBase64(append(b, `,"data":`...), o.Data)
	}
	b = unsigned(b, `,"payload":`, o.Payload)
	b = signed(b, `,"version":`, int64(o.Version))
	return append(b, '}')
}

func appendOptions(b []byte, options map[string]string) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(options)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(appendString(b, name), ':'), options[name])
	}
	return append(b, '}')
}

// appendStrings appends an array, if it is not empty.
func appendStrings(b []byte, key string, all []string) []byte {
	if len(all) == 0 {
		return b
	}
	return appendArray(b, key, all)
}

func appendArray(b []byte, key string, all []string) []byte {
	b = append(append(b, key...), '[')
	for i, s := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

// The following append a field unless it has its zero value.

func phrase(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(append(b, key...), s)
}

func signed(b []byte, key string, v int64) []byte {
	if v == 0 {
		return b
	}
	return appendInt(append(b, key...), v)
}

func unsigned(b []byte, key string, v uint64) []byte {
	if v == 0 {
		return b
	}
	return appendUint(append(b, key...), v)
}

func flagged(b []byte, key string, on bool) []byte {
	if !on {
		return b
	}
	return append(append(b, key...), "true"...)
}

// moment appends an instant as nanoseconds after at, and null for none.
func moment(b []byte, key string, v, at int64) []byte {
	if v == 0 {
		return append(append(b, key...), "null"...)
	}
	return appendInt(append(b, key...), v-at)
}
