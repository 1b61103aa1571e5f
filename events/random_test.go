package events_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// random is a record with few different values, so that much of it follows from the
// records before.
type random struct {
	*rand.Rand
	seq      uint64
	children []string
	asked    map[string]uint64    // who has a request, and in which record
	numbers  map[events.ID]uint64 // the last of the machine's requests and timers
}

func pick[T any](r *random, of ...T) T { return of[r.IntN(len(of))] }

const created = "/jobs/nightly/_c_386db4d5-a52e-4396-b63e-99843bb55e5b-latch-"

const longPath = "/jobs/nightly/_c_386db4d5-a52e-4396-b63e-99843bb55e5b-0000000003"

func (r *random) string() string {
	return pick(r, "", "a", "@", "@@1", "@1", longPath, "/other"+longPath, "x="+longPath+"; y",
		"{check "+longPath+"} @2", "\x00\x7f\u202e\"\\\n", "é😀", "=@1 {@2", "//", longPath+"/", "[more]", "+",
		"++1", created+fmt.Sprint(r.IntN(99)))
}

func (r *random) int() int64 {
	return pick(r, 0, 0, 1, -1, 7, 1<<53-1, 1<<53, -1<<63, 1<<63-1, int64(r.Uint64()))
}

// fill sets about half of the fields of a struct.
func (r *random) fill(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if r.IntN(2) == 0 || v.Type().Field(i).Name == "Unknown" {
			continue
		}
		switch value := f.Interface().(type) {
		case []string:
			f.Set(reflect.ValueOf(pick(r, []string{"a"}, []string{"b", "a"}, []string{r.string()})))
		case []byte:
			f.SetBytes([]byte(r.string()))
		case events.Effects:
			get, create := events.Call{Request: 1 + r.Uint64N(3)}, events.Call{Request: 4 + r.Uint64N(3), Urgent: true}
			f.Set(reflect.ValueOf(events.Effects{events.Get{Call: get, Path: longPath, Watch: true},
				events.Create{Call: create, Path: created, Mode: events.Ephemeral}}))
		case map[string]string:
			f.Set(reflect.ValueOf(pick(r, map[string]string{}, map[string]string{"k": "v", "": r.string()})))
		case []events.Op:
			ops := make([]events.Op, 1+r.IntN(2))
			for i := range ops {
				r.fill(reflect.ValueOf(&ops[i]).Elem())
			}
			f.Set(reflect.ValueOf(ops))
		case *events.Stat:
			f.Set(reflect.ValueOf(&events.Stat{}))
			r.fill(f.Elem())
		case events.Event:
			r.fill(f)
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString(r.string())
			case reflect.Int: // of a notice, set by it
			case reflect.Int32:
				f.SetInt(int64(int32(r.int())))
			case reflect.Int64:
				f.SetInt(r.int())
			case reflect.Uint64:
				f.SetUint(uint64(r.int()))
			case reflect.Bool:
				f.SetBool(true)
			default:
				panic(fmt.Sprintf("no random value of %T", value))
			}
		}
	}
}

func (r *random) record() (rec events.Record) {
	r.fill(reflect.ValueOf(&rec).Elem())
	r.seq++
	rec.Seq, rec.Machine = r.seq, pick[events.ID](r, "session", "latch-1", "latch-2", "mutex-1")
	rec.From, rec.To = pick(r, "", "waiting", "leading"), pick(r, "", "waiting", "leading", "closed")
	rec.Event.Kind = pick(r, events.CommandOpen, events.CommandStart, events.ConnectionAttached, events.ReplyChildren,
		events.ReplyChildren, events.ReplyStat, events.TimerFired)
	rec.Row = pick(r, "", "late", string(rec.Event.Kind), string(rec.Event.Kind)+" [a] > [b]",
		string(rec.Event.Kind)+" ", r.string())
	if r.IntN(2) == 0 { // a reply
		rec.Event.Request, rec.Internal = 1+r.Uint64N(8), false
		rec.Cause = r.asked[fmt.Sprint(rec.Machine, rec.Event.Request)]
		rec.Event.Path = created + fmt.Sprint(r.IntN(99))
	}
	rec.Effects = append(rec.Effects, r.effects(rec)...)
	for _, effect := range rec.Effects {
		switch e := effect.(type) {
		case events.Request:
			r.asked[fmt.Sprint(rec.Machine, e.Header().Request)] = rec.Seq
		case events.SetTimer:
			r.asked[fmt.Sprint(rec.Machine, e.Request)] = rec.Seq
		}
	}
	rec.Deadline, rec.Reason = rec.Effects.Facts()
	if rec.Event.Kind == events.ReplyChildren {
		rec.Event.Path, rec.Event.Children = pick(r, "/l", longPath), r.list()
	}
	return rec
}

// effects are such of which parts follow from the records before, or seem to.
func (r *random) effects(rec events.Record) (all events.Effects) {
	deadline := rec.Event.At + int64(time.Second)
	for range r.IntN(8) {
		name := pick(r, "deadline", "deadline", "heartbeat", "heartbeat", "heartbeat", "a", "", "7", "@", "a;b", "a b")
		last := r.numbers[rec.Machine]
		call := events.Call{Request: last + pick[uint64](r, 1, 1, 1, 0, 2), Urgent: r.IntN(2) == 0,
			Keep: r.IntN(2) == 0}
		ops := make([]events.Op, r.IntN(3))
		for i := range ops {
			r.fill(reflect.ValueOf(&ops[i]).Elem())
		}
		watch := r.IntN(2) == 0
		effect := pick[events.Effect](r, events.Deadline{Until: deadline},
			events.Deadline{Until: pick(r, 0, deadline, r.int())},
			events.SetTimer{Request: call.Request, Name: name, After: pick(r, time.Second, time.Minute)},
			events.SetTimer{Request: call.Request, Name: name, After: pick(r, time.Second, time.Minute)},
			events.SetTimer{Request: last + 1, Name: "deadline", After: time.Second},
			events.SetTimer{Request: last + 1, Name: "deadline", After: time.Second},
			events.StopTimer{Request: max(last, 1) - r.Uint64N(2)}, events.Multi{Call: call, Ops: ops}, r.notice(),
			events.Create{Call: call, Path: r.string(), Mode: events.Mode(r.string()),
				TTL: time.Duration(r.int()), Data: []byte(r.string()), Payload: uint64(r.int()),
				With: append(ops, events.Op{})[0]},
			events.Get{Call: call, Path: r.string(), Watch: watch, Data: r.IntN(2) == 0},
			events.Exists{Call: call, Path: r.string(), Watch: watch},
			events.Children{Call: call, Path: r.string(), Watch: watch}, events.AddWatch{Call: call, Path: r.string()},
			events.Sync{Call: call, Path: r.string()}, events.Delete{Call: call, Path: r.string()},
			events.Connect{Session: r.int()}, events.CloseSession{Session: r.int()}, events.Abandon{Session: r.int()},
			events.Leave{Session: r.int(), Code: events.Code(r.string())}, events.Entered{State: r.string()},
			events.Answer{Command: uint64(r.int()), Code: events.Code(r.string()), Text: r.string()},
			events.Tell{To: events.ID(r.string()),
				Event: events.Event{Kind: events.Kind(r.string()), Path: r.string()}})
		switch e := effect.(type) {
		case events.Request:
			r.numbers[rec.Machine] = e.Header().Request
		case events.SetTimer:
			r.numbers[rec.Machine] = e.Request
		}
		all = append(all, effect)
	}
	return all
}

// notice is a notice of any content.
func (r *random) notice() events.Notify {
	var n events.Notify
	v := reflect.ValueOf(&n).Elem()
	r.fill(v)
	n.What, n.Try, n.Ahead = pick(r, events.Elected, events.Stopped, events.Failed, events.Value), r.IntN(3), r.IntN(3)
	return n
}

// list is a list of children that changes a little.
func (r *random) list() []string {
	for len(r.children) < 8 {
		r.children = append(r.children,
			pick(r, "n-", "@", "_c_386db4d5-a52e-4396-b63e-99843bb55e5b-")+fmt.Sprint(r.IntN(1000)))
	}
	is := slices.Clone(r.children)
	for range r.IntN(3) {
		is = slices.Insert(is, r.IntN(len(is)+1), pick(r, "n-", "@7")+fmt.Sprint(r.IntN(1000)))
	}
	for range r.IntN(3) {
		is = slices.Delete(is, 0, 1+r.IntN(2))
	}
	if r.IntN(9) == 0 {
		slices.Reverse(is)
	}
	r.children = is
	return is
}
