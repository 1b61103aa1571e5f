package events_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// fill sets every field of a struct to something other than zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		f := v.Field(i)
		if v.Type().Field(i).Name == "Unknown" {
			f.SetString(`,"newer":{"a":[1]},"stat.more":"x"`)
			continue
		}
		switch f.Interface().(type) {
		case []string:
			f.Set(reflect.ValueOf([]string{"a", "b"}))
			continue
		case []byte:
			f.Set(reflect.ValueOf([]byte("\x00\xffbytes")))
			continue
		case map[string]string:
			f.Set(reflect.ValueOf(map[string]string{"k": "v"}))
			continue
		case []events.Op:
			f.Set(reflect.ValueOf([]events.Op{{}}))
			fill(t, f.Index(0))
			continue
		case events.Effects:
			f.Set(reflect.ValueOf(events.Effects{events.Get{Call: events.Call{Request: 4}, Path: "/a"},
				events.Deadline{Until: 1<<62 + 5}, events.Notify{What: events.Stopped, Reason: "some Reason"}}))
			continue
		case *events.Stat:
			f.Set(reflect.ValueOf(&events.Stat{}))
			fill(t, f.Elem())
			continue
		}
		if f.Type() == reflect.TypeFor[time.Duration]() {
			f.SetInt(int64(90 * time.Second))
			continue
		}
		switch f.Kind() {
		case reflect.String:
			f.SetString("some " + v.Type().Field(i).Name)
		case reflect.Int32:
			f.SetInt(-3 - int64(i))
		case reflect.Int64:
			f.SetInt(1<<62 + int64(i)) // a float could not hold it
		case reflect.Uint64:
			f.SetUint(1<<53 + uint64(i))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Struct:
			fill(t, f)
		default:
			t.Fatalf("field %s: the test does not know %s", v.Type().Field(i).Name, f.Type())
		}
	}
}

// Whatever can be in a record comes back from a log as it was.
func TestEveryFieldRoundTrips(t *testing.T) {
	var r events.Record
	fill(t, reflect.ValueOf(&r).Elem())
	r.Seq, r.Event.Kind = 1, events.CommandOpen
	r.Deadline, r.Reason = r.Effects.Facts()
	got, _, err := read(strings.NewReader(written(t, r)))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if !reflect.DeepEqual(got[0], r) {
		t.Errorf("\n got %+v\nwant %+v", got[0], r)
	}
}

// Equal must not forget a field, nor one that is added later.
func TestEqualSeesEveryField(t *testing.T) {
	var full, empty events.Record
	fill(t, reflect.ValueOf(&full).Elem())
	var again events.Record
	fill(t, reflect.ValueOf(&again).Elem())
	if !full.Equal(again) || !empty.Equal(events.Record{Tried: []string{}}) {
		t.Error("the same record is not equal")
	}
	var each func(path string, v reflect.Value)
	each = func(path string, v reflect.Value) {
		for i := range v.NumField() {
			name := path + v.Type().Field(i).Name
			if v.Field(i).Kind() == reflect.Struct {
				each(name+".", v.Field(i))
				continue
			}
			if name == "Unknown" { // of a newer version: what this one does stays the same
				continue
			}
			was := reflect.ValueOf(v.Field(i).Interface())
			v.Field(i).SetZero()
			if again.Equal(full) || full.Equal(again) {
				t.Errorf("Equal does not look at %s", name)
			}
			v.Field(i).Set(was)
		}
	}
	each("", reflect.ValueOf(&again).Elem())
	stat := *again.Event.Stat
	stat.Version++
	again.Event.Stat = &stat
	if again.Equal(full) {
		t.Error("Equal does not look into Stat")
	}
	fill(t, reflect.ValueOf(&again).Elem())
	each("Ops.", reflect.ValueOf(again.Event.Ops).Index(0))
}

// Numbers above 2^53 are strings, so that every JSON reader keeps them.
func TestBigNumbersAreStrings(t *testing.T) {
	var ev events.Event
	fill(t, reflect.ValueOf(&ev).Elem())
	b, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(b, &plain); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"at", "zxid", "sent", "sessionID", "timeout", "validUntil"} {
		if _, ok := plain[name].(string); !ok {
			t.Errorf("%s is written as %v", name, plain[name])
		}
	}
	for _, name := range []string{"czxid", "mzxid", "ephemeralOwner"} {
		if _, ok := plain["stat"].(map[string]any)[name].(string); !ok {
			t.Errorf("stat.%s is no string", name)
		}
	}
}

// What is not set is left out: most events have three fields.
func TestEmptyFieldsAreLeftOut(t *testing.T) {
	b, err := json.Marshal(events.Event{Kind: events.HeartbeatUnneeded})
	if err != nil || string(b) != `{"kind":"heartbeat.unneeded"}` {
		t.Errorf("%s, %v", b, err)
	}
}

// Kinds has to list every constant of kind.go, because a log with any other is
// refused.
func TestKindsListsEveryKind(t *testing.T) {
	src, err := os.ReadFile("kind.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[events.Kind]bool{}
	for _, k := range events.Kinds() {
		if listed[k] {
			t.Errorf("%s is listed twice", k)
		}
		listed[k] = true
		if source, detail, ok := strings.Cut(string(k), "."); !ok || source == "" || detail == "" {
			t.Errorf("%s is not source.detail", k)
		}
	}
	for _, line := range strings.Split(string(src), "\n") {
		if _, rest, ok := strings.Cut(line, `Kind = "`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			if !listed[events.Kind(name)] {
				t.Errorf("Kinds does not list %s", name)
			}
		}
	}
}

// An effect's words are its one written form: logs and traces compare them.
func TestEffectsInWords(t *testing.T) {
	call := events.Call{Request: 3, Session: 1}
	urgent := events.Call{Request: 3, Session: 1, Urgent: true}
	for _, c := range []struct {
		effect events.Effect
		words  string
	}{
		{events.Create{Call: call, Path: "/l/n-", Mode: events.EphemeralSequential, Data: []byte("a\n")},
			`#3 create /l/n- ephemeral_sequential data="a\n"`},
		{events.Create{Call: call, Path: "/l/n-", Mode: events.Ephemeral, With: events.Op{Verb: "create", Path: "/a/n",
			Mode: events.Ephemeral, Data: []byte("b")}},
			`#3 create /l/n- ephemeral with={create /a/n ephemeral data="b"}`},
		{events.Delete{Call: urgent, Path: "/l/n"}, "#3! delete /l/n"},
		{events.Get{Call: call, Path: "/l/n", Data: true, Watch: true}, "#3 get /l/n data watch"},
		{events.Exists{Call: call, Path: "/l/n", Watch: true}, "#3 exists /l/n watch"},
		{events.Children{Call: call, Path: "/l"}, "#3 children /l"},
		{events.Sync{Call: urgent, Path: "/"}, "#3! sync /"},
		{events.Multi{Call: call, Ops: []events.Op{{Verb: "check", Path: "/a", Version: -1},
			{Verb: "create", Path: "/b", Mode: events.Persistent}}}, "#3 multi {check /a; create /b persistent}"},
		{events.Connect{Session: 2}, "connect session 2"},
		{events.CloseSession{Session: 2}, "close session 2"},
		{events.Abandon{Session: 2}, "abandon session 2"},
		{events.Leave{Session: 2, Code: events.SessionMoved}, "leave session 2 SESSIONMOVED"},
		{events.SetTimer{Request: 4, Name: "back-off", After: 1500 * time.Millisecond}, "#4 timer back-off 1.5s"},
		{events.StopTimer{Request: 4}, "stop timer #4"},
		{events.Tell{To: "session", Event: events.Event{Kind: events.HeartbeatWanted, Path: "/l/n"}},
			"tell session heartbeat.wanted /l/n"},
		{events.Deadline{Session: 1}, "valid until: unconfirmed"},
		{events.Deadline{Session: 1, Until: int64(7 * time.Second)}, "valid until 7s"},
		{events.Notify{What: events.Elected, Path: "/l/n", Token: 9}, "notify elected /l/n token=9"},
		{events.Notify{What: events.Failed, Code: events.NoAuth, Text: "no, really"},
			`notify failed NOAUTH "no, really"`},
		{events.Notify{What: events.Stopped, Silent: true}, "notify stopped silent"},
		{events.Notify{What: events.Stopped, Reason: events.ReasonNodeGone}, `notify stopped "the own node is gone"`},
		{events.Notify{What: events.Stopped, Reason: events.ReasonOwnPause, Paused: 3100 * time.Millisecond},
			`notify stopped "this process did not run for too long" paused=3.1s`},
		{events.Notify{What: events.Value, Path: "/c", Value: -7}, "notify value /c value=-7"},
		{events.Notify{What: events.Value, Path: "/c"}, "notify value /c value=0"},
		{events.Notify{What: events.Granted, Work: 5}, "notify granted work=5"},
		{events.Entered{State: "leading"}, "entered leading"},
		{events.Answer{Command: 8}, "answer 8 ok"},
		{events.Answer{Command: 8, Code: events.Closed, Text: "why"}, `answer 8 CLOSED "why"`},
	} {
		if got := c.effect.String(); got != c.words {
			t.Errorf("got  %s\nwant %s", got, c.words)
		}
		if r, ok := c.effect.(events.Request); ok && r.Header().Request != 3 {
			t.Errorf("%s: header %+v", c.words, r.Header())
		}
	}
}

func TestCodes(t *testing.T) {
	for _, c := range []events.Code{events.SessionExpired, events.NotSent, events.NoNode, events.OK} {
		if c.Unknown() {
			t.Errorf("%q is a definite outcome", c)
		}
	}
	if !events.ConnectionLoss.Unknown() {
		t.Error("a lost connection leaves the outcome unknown")
	}
	for _, c := range []events.Code{events.OK, events.NoAuth, events.NoNode, events.AuthFailed, events.CounterEnd} {
		if c.Transient() {
			t.Errorf("%q does not pass by itself", c)
		}
	}
	for _, c := range []events.Code{events.ConnectionLoss, events.SessionExpired, events.SessionMoved,
		events.Throttled} {
		if !c.Transient() {
			t.Errorf("%q passes by itself", c)
		}
	}
}
