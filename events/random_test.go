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
	asked    map[string]uint64 // who has a request, and in which record
	numbers  map[events.ID]int // the last of the machine's requests and timers
}

func pick[T any](r *random, of ...T) T { return of[r.IntN(len(of))] }

const created = "/jobs/nightly/_c_386db4d5-a52e-4396-b63e-99843bb55e5b-latch-"

const longPath = "/jobs/nightly/_c_386db4d5-a52e-4396-b63e-99843bb55e5b-0000000003"

func (r *random) string() string {
	return pick(r, "", "a", "@", "@@1", "@1", longPath, "/other"+longPath, "x="+longPath+"; y", "{check "+longPath+"} @2", "\x00\x7f\u202e\"\\\n", "é😀", "=@1 {@2", "//", longPath+"/", "[more]", "+", "++1", created+fmt.Sprint(r.IntN(99)))
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
			f.Set(reflect.ValueOf(events.WrittenEffects(r.string(), fmt.Sprintf("#%d get %s watch", 1+r.IntN(3), longPath), fmt.Sprintf("#%d! create %s ephemeral", 4+r.IntN(3), created), r.string())))
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
	rec.Event.Kind = pick(r, events.CommandOpen, events.CommandStart, events.ConnectionAttached, events.ReplyChildren, events.ReplyChildren, events.ReplyStat, events.TimerFired)
	rec.Row = pick(r, "", "late", string(rec.Event.Kind), string(rec.Event.Kind)+" [a] > [b]", string(rec.Event.Kind)+" ", r.string())
	if r.IntN(2) == 0 { // a reply
		rec.Event.Request, rec.Internal = 1+r.Uint64N(8), false
		rec.Cause = r.asked[fmt.Sprint(rec.Machine, rec.Event.Request)]
		rec.Event.Path = created + fmt.Sprint(r.IntN(99))
	}
	rec.Effects = append(rec.Effects, r.timers(rec)...)
	for _, effect := range rec.Effects.Strings() {
		number := uint64(0)
		if n, _ := fmt.Sscanf(effect, "#%d", &number); n == 1 {
			r.asked[fmt.Sprint(rec.Machine, number)] = rec.Seq
		}
	}
	if rec.Event.Kind == events.ReplyChildren {
		rec.Event.Path, rec.Event.Children = pick(r, "/l", longPath), r.list()
	}
	return rec
}

// timers are effects whose written form is shorter in a line, or seems to be.
func (r *random) timers(rec events.Record) (all events.Effects) {
	for range r.IntN(8) {
		name := pick(r, "deadline", "deadline", "heartbeat", "heartbeat", "heartbeat", "a", "", "7", "@", "a;b", "a b")
		last := r.numbers[rec.Machine]
		number := last + pick(r, 1, 1, 1, 0, 2)
		after := time.Duration(rec.Deadline - rec.Event.At)
		text := pick(r, "valid until "+time.Duration(rec.Deadline).String(), fmt.Sprintf("#%d timer %s %s", number, name, pick(r, after, time.Second)),
			fmt.Sprintf("#%d!* multi {check %s}", number, longPath), fmt.Sprintf("stop timer #%d", last-r.IntN(2)),
			"valid until @", "stop timer @deadline", "# timer a @", "#", "##", "#!", "#x @", fmt.Sprintf("#%dx", number), fmt.Sprintf("#0%d x", number), "#/a/path/of/many/bytes", "#@1")
		if n, err := fmt.Sscanf(text, "#%d", &last); n == 1 && err == nil {
			r.numbers[rec.Machine] = last
		}
		all = append(all, events.Written(text))
	}
	return all
}

// list is a list of children that changes a little.
func (r *random) list() []string {
	for len(r.children) < 8 {
		r.children = append(r.children, pick(r, "n-", "@", "_c_386db4d5-a52e-4396-b63e-99843bb55e5b-")+fmt.Sprint(r.IntN(1000)))
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
