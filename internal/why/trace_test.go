package why

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

// checkTrace checks a trace against the rules of the Trace Event Format, and returns how many slices and arrows it has:
// the fields that each phase requires, events in order of time, slices of a thread within or after one another, B and E
// in pairs, and arrows that begin and end within slices.
func checkTrace(b []byte) (slices, arrows int, err error) {
	var trace struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	if err := json.Unmarshal(b, &trace); err != nil {
		return 0, 0, err
	}
	c := traceCheck{open: map[string][]float64{}, begun: map[string]int{}, arrows: map[string]float64{},
		slices: map[string][][2]float64{}}
	for i, e := range trace.TraceEvents {
		if err := c.event(e); err != nil {
			return 0, 0, fmt.Errorf("event %d, %v: %w", i, e, err)
		}
	}
	for thread, n := range c.begun {
		if n != 0 {
			return 0, 0, fmt.Errorf("thread %s: %d B without E", thread, n)
		}
	}
	if len(c.arrows) > 0 {
		return 0, 0, fmt.Errorf("arrows without an end: %v", c.arrows)
	}
	for _, point := range c.points {
		if !point.within(c.slices) {
			return 0, 0, fmt.Errorf("the arrow's end %+v is in no slice", point)
		}
	}
	for _, on := range c.slices {
		slices += len(on)
	}
	return slices, len(c.points) / 2, nil
}

type traceCheck struct {
	last   float64
	open   map[string][]float64 // by thread: the ends of the slices that the present time is in
	begun  map[string]int
	arrows map[string]float64
	slices map[string][][2]float64
	points []tracePoint
}

type tracePoint struct {
	thread string
	at     float64
}

func (p tracePoint) within(all map[string][][2]float64) bool {
	return slices.ContainsFunc(all[p.thread], func(s [2]float64) bool { return s[0] <= p.at && p.at < s[1] })
}

func (c *traceCheck) event(e map[string]any) error {
	for field, is := range map[string]bool{"name": isText(e["name"]), "ph": isText(e["ph"]), "pid": isCount(e["pid"]),
		"tid": isCount(e["tid"]), "ts": isNumber(e["ts"])} {
		if !is {
			return fmt.Errorf("%s is %v", field, e[field])
		}
	}
	args, _ := e["args"].(map[string]any)
	at, thread := e["ts"].(float64), fmt.Sprint(e["pid"], " ", e["tid"])
	switch phase := e["ph"]; phase {
	case "M":
		if args["name"] == nil && args["sort_index"] == nil {
			return fmt.Errorf("metadata without a name")
		}
		return nil
	case "X":
		return c.slice(thread, at, e["dur"])
	case "B":
		c.begun[thread]++
	case "E":
		if c.begun[thread]--; c.begun[thread] < 0 {
			return fmt.Errorf("E without B")
		}
	case "i":
		if !slices.Contains([]any{"g", "p", "t"}, e["s"]) {
			return fmt.Errorf("the scope of an instant is %v", e["s"])
		}
	case "s", "f":
		if err := c.arrow(e, at, thread); err != nil {
			return err
		}
	default:
		return fmt.Errorf("phase %v", phase)
	}
	return c.inOrder(at)
}

func (c *traceCheck) inOrder(at float64) error {
	if at < c.last {
		return fmt.Errorf("it is before the one ahead of it")
	}
	c.last = at
	return nil
}

func (c *traceCheck) slice(thread string, at float64, dur any) error {
	long, ok := dur.(float64)
	if !ok || long < 0 {
		return fmt.Errorf("a slice with dur %v", dur)
	}
	open := slices.DeleteFunc(c.open[thread], func(end float64) bool { return end <= at })
	if n := len(open); n > 0 && open[n-1] < at+long {
		return fmt.Errorf("it ends after the slice that it begins in")
	}
	c.open[thread] = append(open, at+long)
	c.slices[thread] = append(c.slices[thread], [2]float64{at, at + long})
	return c.inOrder(at)
}

func (c *traceCheck) arrow(e map[string]any, at float64, thread string) error {
	key := fmt.Sprint(e["cat"], " ", e["name"], " ", e["id"])
	begun, has := c.arrows[key]
	switch {
	case !isText(e["cat"]) || !isCount(e["id"]):
		return fmt.Errorf("an arrow without cat or id")
	case e["ph"] == "s" && has:
		return fmt.Errorf("an arrow that begins twice")
	case e["ph"] == "s":
		c.arrows[key] = at
	case !has || at < begun || e["bp"] != "e":
		return fmt.Errorf("an arrow that ends before it begins, or at no slice")
	default:
		delete(c.arrows, key)
	}
	c.points = append(c.points, tracePoint{thread, at})
	return nil
}

func isText(v any) bool { s, ok := v.(string); return ok && s != "" }

func isNumber(v any) bool { n, ok := v.(float64); return ok && n >= 0 }

func isCount(v any) bool { n, ok := v.(float64); return ok && n >= 1 && n == float64(int(n)) }

// Traces keep to the format's rules, in worlds of all recipes with several terms at once.
func TestTracesKeepToTheFormat(t *testing.T) {
	bars, arrows := 0, 0
	for seed := range int64(selection.Of(t, "worlds", 10, 20, 50)) {
		b, err := explainSim(t, sim.Run(seed+1, sim.Options{Keep: true})).Trace()
		if err != nil {
			t.Fatal(err)
		}
		s, a, err := checkTrace(b)
		if err != nil {
			t.Fatalf("world %d: %v", seed+1, err)
		}
		bars, arrows = bars+s, arrows+a
	}
	if bars < 100 || arrows < 10 {
		t.Errorf("%d slices and %d arrows", bars, arrows)
	}
}

// The check of traces finds what breaks the rules.
func TestTheCheckOfTraces(t *testing.T) {
	const slice = `{"name":"a","ph":"X","ts":5,"dur":10,"pid":1,"tid":1}`
	for trace, want := range map[string]string{
		slice: "",
		`{"name":"a","ph":"X","ts":5,"pid":1,"tid":1}`:                           "dur",
		`{"ph":"X","ts":5,"dur":1,"pid":1,"tid":1}`:                              "name",
		`{"name":"a","ph":"X","ts":5,"dur":1,"pid":1}`:                           "tid",
		slice + `,{"name":"b","ph":"X","ts":6,"dur":20,"pid":1,"tid":1}`:         "ends after the slice",
		slice + `,{"name":"b","ph":"X","ts":6,"dur":20,"pid":1,"tid":2}`:         "",
		slice + `,{"name":"b","ph":"i","s":"t","ts":4,"pid":1,"tid":1}`:          "before the one ahead",
		`{"name":"b","ph":"i","ts":4,"pid":1,"tid":1}`:                           "scope",
		`{"name":"b","ph":"B","ts":4,"pid":1,"tid":1}`:                           "B without E",
		`{"name":"b","ph":"E","ts":4,"pid":1,"tid":1}`:                           "E without B",
		slice + `,{"name":"m","cat":"c","id":1,"ph":"s","ts":6,"pid":1,"tid":1}`: "without an end",
		slice + `,{"name":"m","cat":"c","id":1,"ph":"s","ts":6,"pid":1,"tid":1},{"name":"m","cat":"c","id":1,` +
			`"ph":"f","bp":"e","ts":20,"pid":1,"tid":1}`: "in no slice",
		slice + `,{"name":"m","cat":"c","id":1,"ph":"s","ts":6,"pid":1,"tid":1},{"name":"m","cat":"c","id":1,` +
			`"ph":"f","bp":"e","ts":7,"pid":1,"tid":1}`: "",
	} {
		_, _, err := checkTrace([]byte(`{"traceEvents":[` + trace + `]}`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", trace, err, want)
		}
	}
}

// So do those of worlds in which two lead at once.
func TestTracesOfTwoAtOnce(t *testing.T) {
	for seed := range uint64(5) {
		r := Explain(newSimulated(t, seed, true).logs(t), nil, Options{})
		b, err := r.Trace()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := checkTrace(b); err != nil {
			t.Errorf("world %d: %v", seed, err)
		}
	}
}
