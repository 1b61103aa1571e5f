package engine

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A chart with a fault of every sort whose complaint names rows. The lines are
// numbered from 1 again, so that the golden text does not change with what stands above.
//
//line toy.go:1
func faulty() Chart[worker] {
	return Chart[worker]{
		Name: "faulty", States: []StateDoc{{Name: ready}, {Name: asking}, {Name: holding}, {Name: choosing}},
		Kinds: []events.Kind{events.CommandStart, events.ReplyCreate, events.WatchDeleted},
		Happy: []State{ready, holding},
		Rows: []Row[worker]{
			{From: []State{ready, asking}, On: On(events.CommandStart), To: asking},
			{From: []State{asking}, On: On(events.ReplyCreate), When: plainly, To: ready},
			{From: []State{asking}, On: On(events.ReplyCreate), When: plainly, To: choosing},
			{From: []State{ready}, To: asking, Do: nap},
			{From: []State{ready}, On: On(events.ReplyCreate), To: asking},
			{From: []State{ready}, On: On(events.ReplyCreate, events.WatchDeleted), When: plainly, To: asking},
			{From: []State{holding}, On: On(events.CommandStart),
				To: Stay, Do: func(*worker, events.Event, *Outbox) {}},
			{From: []State{choosing}, On: On(AtOnce), To: Stay},
		},
		Ignores: []Ignore{{[]State{asking}, []events.Kind{events.ReplyCreate}, "a toy"}},
	}
}

func nap(*worker, events.Event, *Outbox) {}

//line sourceline_test.go:36

func TestComplaintsNameTheLines(t *testing.T) {
	got := refusal(func() { MustCompile(faulty()) })
	want(t, "what MustCompile says", got, strings.Join([]string{
		"engine: chart \"faulty\":",
		"toy.go:21 row 4 (in ready): has no On: name the kinds that it is about, or AtOnce",
		"toy.go:13 row 7 (command.start in holding): action github.com/incumbent-go/incumbent/engine.faulty.func1 " +
			"(toy.go:14) is a closure or bound method: use a method expression such as (*latch).first",
		"reply.create in asking is ignored, but a row decides it: toy.go:8 row 2 (reply.create in asking [plainly])",
		"reply.create in ready: a row stands after the one without a guard: toy.go:12 row 6 (reply.create, " +
			"watch.deleted in ready [plainly]) after toy.go:11 row 5 (reply.create in ready)",
		"reply.create in ready: no row for when [plainly] does not hold either, after toy.go:12 row 6 (reply.create, " +
			"watch.deleted in ready [plainly])",
		"watch.deleted in ready: no row for when [plainly] does not hold either, after toy.go:12 row 6 " +
			"(reply.create, watch.deleted in ready [plainly])",
		"reply.create in asking: two rows with guard [plainly]: toy.go:8 row 2 (reply.create in asking [plainly]), " +
			"toy.go:9 row 3 (reply.create in asking [plainly])",
		"reply.create in asking: no row for when [plainly] does not hold either, after toy.go:9 row 3 (reply.create " +
			"in asking [plainly])",
		"watch.deleted in asking: nobody decided; add a row or an Ignore; rows of other states on it: toy.go:12 row " +
			"6 (reply.create, watch.deleted in ready [plainly])",
		"reply.create in holding: nobody decided; add a row or an Ignore; rows of other states on it: toy.go:8 row 2 " +
			"(reply.create in asking [plainly]), toy.go:9 row 3 (reply.create in asking [plainly]), toy.go:11 row 5 " +
			"(reply.create in ready), 1 more",
		"watch.deleted in holding: nobody decided; add a row or an Ignore; rows of other states on it: toy.go:12 row " +
			"6 (reply.create, watch.deleted in ready [plainly])",
		"toy.go:15 row 8 (at once in choosing): a choice cannot stay: say where it leads",
		"state holding: no arrow leads to it; its own rows: toy.go:13 row 7 (command.start in holding)",
		"the happy path goes from ready to holding, but no row does; rows from ready: toy.go:7 row 1 (command.start " +
			"in ready, asking), toy.go:21 row 4 (in ready), toy.go:11 row 5 (reply.create in ready), 1 more",
	}, "\n\t"))
}

func TestPlaces(t *testing.T) {
	for file, says := range map[string]string{
		"":                             "",
		"/src/incumbent/machines/x.go": "machines/x.go:7",
		"github.com/incumbent-go/incumbent/machines/x.go": "machines/x.go:7", // -trimpath
		"x.go": "x.go:7",
	} {
		want(t, file, place(file, 7), says)
	}
}
