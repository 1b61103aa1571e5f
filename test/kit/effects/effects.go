// Package effects makes effects of the words in which traces show them: a test of a log's reader is shorter with
// "notify elected /l/n token=5" than with the value.
package effects

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Of returns the effects that have these words. It panics if there is none.
func Of(words ...string) events.Effects {
	var all events.Effects
	for _, one := range words {
		e, err := Parse(one)
		if err != nil {
			panic(err)
		}
		all = append(all, e)
	}
	return all
}

// Parse returns the effect whose String is words.
func Parse(words string) (events.Effect, error) {
	t := &text{rest: words}
	e := t.effect()
	switch {
	case t.err != nil:
		return nil, fmt.Errorf("effect %q: %w", words, t.err)
	case t.rest != "":
		return nil, fmt.Errorf("effect %q: %q is too much", words, t.rest)
	case e.String() != words:
		return nil, fmt.Errorf("effect %q was read as %q", words, e)
	}
	return e, nil
}

// text is what is left of an effect's words.
type text struct {
	rest string
	err  error
}

func (t *text) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// cut cuts a prefix off, and reports whether it was there.
func (t *text) cut(prefix string) bool {
	rest, is := strings.CutPrefix(t.rest, prefix)
	t.rest = rest
	return is
}

// word cuts the next word off.
func (t *text) word() string {
	end := strings.IndexAny(t.rest, " ;}")
	if end < 0 {
		end = len(t.rest)
	}
	word := t.rest[:end]
	t.rest = strings.TrimPrefix(t.rest[end:], " ")
	return word
}

func (t *text) number() uint64 {
	word := t.word()
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		t.fail("%q is no number", word)
	}
	return n
}

func (t *text) duration() time.Duration {
	word := t.word()
	d, err := time.ParseDuration(word)
	if err != nil {
		t.fail("%q is no duration", word)
	}
	return d
}

func (t *text) path() string {
	if strings.HasPrefix(t.rest, `"`) {
		return t.quoted()
	}
	return t.word()
}

func (t *text) quoted() string {
	prefix, err := strconv.QuotedPrefix(t.rest)
	if err != nil {
		t.fail("no end of %q", t.rest)
		return ""
	}
	t.rest = strings.TrimPrefix(t.rest[len(prefix):], " ")
	s, err := strconv.Unquote(prefix)
	if err != nil {
		t.fail("%s: %w", prefix, err)
	}
	return s
}

func (t *text) effect() events.Effect {
	switch {
	case t.cut("#"):
		return t.request()
	case t.cut("connect session "):
		return events.Connect{Session: int64(t.number())}
	case t.cut("close session "):
		return events.CloseSession{Session: int64(t.number())}
	case t.cut("abandon session "):
		return events.Abandon{Session: int64(t.number())}
	case t.cut("leave session "):
		return events.Leave{Session: int64(t.number()), Code: events.Code(t.word())}
	case t.cut("stop timer #"):
		return events.StopTimer{Request: t.number()}
	case t.cut("tell "):
		return events.Tell{To: events.ID(t.word()), Event: events.Event{Kind: events.Kind(t.word()), Path: t.path()}}
	case t.cut("valid until: unconfirmed"):
		return events.Deadline{}
	case t.cut("valid until "):
		return events.Deadline{Until: int64(t.duration())}
	case t.cut("entered "):
		return events.Entered{State: t.word()}
	case t.cut("answer "):
		return t.answer()
	case t.cut("notify "):
		return t.notify()
	}
	t.fail("no effect begins so")
	return events.Entered{}
}

func (t *text) answer() events.Effect {
	a := events.Answer{Command: t.number()}
	if t.cut("ok") {
		return a
	}
	if !strings.HasPrefix(t.rest, `"`) {
		a.Code = events.Code(t.word())
	}
	if t.rest != "" {
		a.Text = t.quoted()
	}
	return a
}

func (t *text) request() events.Effect {
	end := strings.IndexAny(t.rest, "!* ")
	if end < 0 {
		t.fail("a number without a request")
		return events.Sync{}
	}
	number, err := strconv.ParseUint(t.rest[:end], 10, 64)
	if err != nil {
		t.fail("%w", err)
	}
	t.rest = t.rest[end:]
	call := events.Call{Request: number, Urgent: t.cut("!"), Keep: t.cut("*")}
	t.cut(" ")
	switch verb := t.word(); verb {
	case "create":
		op := t.op(verb)
		c := events.Create{Call: call, Path: op.Path, Mode: op.Mode, TTL: op.TTL, Data: op.Data, Payload: op.Payload}
		if t.cut("with=") {
			c.With = t.ops()[0]
		}
		return c
	case "delete":
		return events.Delete{Call: call, Path: t.path()}
	case "get":
		path := t.path()
		return events.Get{Call: call, Path: path, Data: t.cut("data") && t.more(), Watch: t.cut("watch")}
	case "exists":
		return events.Exists{Call: call, Path: t.path(), Watch: t.cut("watch")}
	case "children":
		return events.Children{Call: call, Path: t.path(), Watch: t.cut("watch")}
	case "addwatch":
		e := events.AddWatch{Call: call, Path: t.path()}
		t.cut("recursive")
		return e
	case "sync":
		return events.Sync{Call: call, Path: t.path()}
	case "multi":
		return events.Multi{Call: call, Ops: t.ops()}
	case "timer":
		return t.timer(number)
	default:
		t.fail("no request is called %q", verb)
		return events.Sync{}
	}
}

// more cuts the space before another word off.
func (t *text) more() bool {
	t.cut(" ")
	return true
}

func (t *text) timer(number uint64) events.Effect {
	e := events.SetTimer{Request: number}
	if space := strings.LastIndexByte(t.rest, ' '); space >= 0 {
		e.Name, t.rest = t.rest[:space], t.rest[space+1:]
	}
	e.After = t.duration()
	return e
}

// ops reads "{check /a; delete /b}".
func (t *text) ops() (all []events.Op) {
	if !t.cut("{") {
		return nil
	}
	for t.err == nil {
		all = append(all, t.op(t.word()))
		if t.cut("}") {
			t.cut(" ")
			return all
		}
		if !t.cut("; ") {
			t.fail("an operation is followed by %q", t.rest)
		}
	}
	return all
}

// op reads an operation behind its verb.
func (t *text) op(verb string) events.Op {
	op := events.Op{Verb: verb, Path: t.path(), Version: -1}
	if verb == "create" {
		op.Version = 0
	}
	for t.err == nil && t.rest != "" && t.rest[0] != ';' && t.rest[0] != '}' && !strings.HasPrefix(t.rest, "with=") {
		switch {
		case t.cut("ttl="):
			op.TTL = t.duration()
		case t.cut("data="):
			op.Data = []byte(t.quoted())
		case t.cut("payload="):
			op.Payload = t.number()
		case t.cut("version="):
			op.Version = int32(t.number())
		default:
			op.Mode = events.Mode(t.word())
		}
	}
	return op
}

// notify reads a notice. The first sentence of one that ends belief is its reason.
func (t *text) notify() events.Effect {
	n := events.Notify{What: events.Notice(t.word())}
	for t.err == nil && t.rest != "" {
		switch {
		case t.cut("token="):
			n.Token = int64(t.number())
		case t.cut("owner="):
			n.Owner = int64(t.number())
		case t.cut("work="):
			n.Work = t.number()
		case t.cut("try="):
			n.Try = int(t.number())
		case t.cut("ahead="):
			n.Ahead = int(t.number())
		case t.cut("behind="):
			n.Behind = t.path()
		case t.cut("value="):
			n.Value, _ = strconv.ParseInt(t.word(), 10, 64)
		case t.cut("paused="):
			n.Paused = t.duration()
		case t.cut("guards="):
			n.Guards = t.ops()
		case t.cut("("):
			n.Names = t.names()
		default:
			t.noticeWord(&n)
		}
	}
	return n
}

// noticeWord reads a part of a notice that has no name.
func (t *text) noticeWord(n *events.Notify) {
	switch {
	case t.rest == "silent" || strings.HasPrefix(t.rest, "silent ("):
		n.Silent = true
		t.word()
	case strings.HasPrefix(t.rest, `"`):
		words := t.quoted()
		switch reason := reasons[words]; {
		case strings.HasPrefix(words, "/") && n.Path == "" && n.Code == "":
			n.Path = words
		case reason != "" && n.What == events.Stopped:
			n.Reason = reason
		default:
			n.Text = words
		}
	case strings.HasPrefix(t.rest, "/"):
		n.Path = t.path()
	default:
		n.Code = events.Code(t.word())
	}
}

// names reads `"a","b")`.
func (t *text) names() []string {
	in, rest, closed := strings.Cut(t.rest, ")")
	names := []string{}
	if err := json.Unmarshal([]byte("["+in+"]"), &names); !closed || err != nil {
		t.fail("no names in (%s", t.rest)
	}
	t.rest = strings.TrimPrefix(rest, " ")
	return names
}

// reasons are those for the end of belief, by their sentences.
var reasons = func() map[string]events.Reason {
	all := map[string]events.Reason{}
	for _, r := range []events.Reason{events.ReasonDeleted, events.ReasonNodeGone, events.ReasonUnreadable,
		events.ReasonNodeChanged, events.ReasonSuspended, events.ReasonSessionOver, events.ReasonUnconfirmed,
		events.ReasonOwnPause, events.ReasonResigned, events.ReasonClosed, events.ReasonReturned, events.ReasonRevoked,
		events.ReasonLapsed, events.ReasonUnhealthy, events.ReasonDisabled, events.ReasonCannotDeal,
		events.ReasonMoved} {
		all[r.String()] = r
	}
	return all
}()
