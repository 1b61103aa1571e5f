package play

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

func ask(t *testing.T, h *Host, q Request) *Answer {
	t.Helper()
	a, err := h.Ask(q)
	if err != nil {
		t.Fatalf("%s: %v", q.Link, err)
	}
	return a
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scripts is how many random scripts are played: make play-scripts plays more.
var scripts = flag.Int("scripts", 0, "play so many random scripts")

// amount returns how many random scripts are played.
func amount(t *testing.T) int {
	if *scripts > 0 {
		return *scripts
	}
	return selection.Of(t, "random scripts", 10, 15, 50)
}

// TestAStoppedWorldIsItsLink: a world that has too many records stops within a microsecond, and its link stops there,
// too.
func TestAStoppedWorldIsItsLink(t *testing.T) {
	for _, recipe := range selection.Some(t, "recipes", 1, 2, []string{"mutex", "semaphore"}) {
		h := new(Host)
		stopped := ask(t, h, Request{Link: "1;" + recipe + ";quick;9;7;work=0.000001@600"})
		if stopped.Stopped == "" {
			t.Fatalf("%s: the world has %d records, and goes on", recipe, stopped.Records)
		}
		if again := ask(t, new(Host), Request{Link: stopped.Link}); text(t, again) != text(t, stopped) {
			t.Errorf("%s: %s is another world: %d records, and not %d", recipe, stopped.Link, again.Records,
				stopped.Records)
		}
		until := stopped.Now - stopped.Begin
		if again := ask(t, h, Request{Link: stopped.Link, Until: &until, Key: stopped.Key}); again.Fresh ||
			again.Stopped == "" || again.Digest != stopped.Digest || len(h.runs) != 1 {
			t.Errorf("%s: until where it stopped, the world is another one: %d records, and not %d", recipe,
				again.Records, stopped.Records)
		}
	}
}

// TestByHandIsByLink: deeds that are done while the world runs, between steps and stops, give the world of the link,
// byte for byte; and a page that goes on has the rows of one that begins.
func TestByHandIsByLink(t *testing.T) {
	for seed := range int64(amount(t)) {
		s, hand, d := Random(seed), new(Host), rand.New(rand.NewPCG(uint64(seed), 21))
		soFar := s
		soFar.Deeds = nil
		at := int64(0)
		for _, deed := range s.Deeds {
			for before := micros(deed.At) - 1; at < before && d.IntN(3) > 0; {
				at += 1 + d.Int64N(before-at)
				ask(t, hand, Request{Link: soFar.Link(), Until: &at, Steps: d.IntN(2)})
			}
			soFar.Deeds = append(slices.Clone(soFar.Deeds), deed)
		}
		byHand, byLink := ask(t, hand, Request{Link: s.Link()}), ask(t, new(Host), Request{Link: s.Link()})
		if text(t, byHand) != text(t, byLink) {
			t.Errorf("seed %d: by hand and by link differ: %s", seed, s.Link())
		}
		if len(byLink.Deeds) != len(s.Deeds) || byLink.Records == 0 {
			t.Errorf("seed %d: %d deeds, and %d outcomes; %d records", seed, len(s.Deeds),
				len(byLink.Deeds), byLink.Records)
		}
		for _, o := range byLink.Deeds {
			if (o.Says == "") == (o.Why == "") || o.Done != (o.Why == "") {
				t.Errorf("seed %d: a deed says neither what it did nor why nothing, or both: %+v", seed, o)
			}
		}
		for _, b := range byLink.Broken {
			t.Errorf("seed %d: %s at %s: %s\n%s", seed, b.Promise, time.Duration(b.At-byLink.Begin)*time.Microsecond,
				b.Text, s.Link())
		}
	}
}

// TestRowsFollow: a page that asks again gets what is new, and nothing twice.
func TestRowsFollow(t *testing.T) {
	const link = "1;latch;usual;3;7~8.5:freeze:alice:9"
	whole := ask(t, new(Host), Request{Link: link + "@30"})
	h, have := new(Host), map[string]uint64{}
	rows := map[string]int{}
	key := ""
	for i, until := range []int64{3_000_000, 3_000_000, 9_000_000, 21_000_000, 30_000_000} {
		a := ask(t, h, Request{Link: link, Until: &until, Have: have, Key: key})
		if a.Fresh != (i == 0) {
			t.Errorf("answer %d is fresh: %t", i, a.Fresh)
		}
		for _, l := range a.Document.Logs {
			for at := 0; at < len(l.Rows); at += 13 {
				if at == 0 {
					have[l.Name] = 0
				}
				rows[l.Name]++
				have[l.Name] += uint64(l.Rows[at])
			}
		}
		key = a.Key
	}
	for _, l := range whole.Document.Logs {
		if len(l.Rows)/13 != rows[l.Name] || rows[l.Name] == 0 {
			t.Errorf("%s: %d rows one after the other, %d at once", l.Name, rows[l.Name], len(l.Rows)/13)
		}
	}
	for name, q := range map[string]Request{
		"a deed in what was seen": {Link: link + "~20:cut:bob@30", Key: key, Have: have},
		"another seed":            {Link: strings.Replace(link, ";7~", ";8~", 1) + "@30", Key: key, Have: have},
		"a moment before":         {Link: link + "@29", Key: key, Have: have},
		"a key of nobody":         {Link: link + "@30", Key: "30000000.feed", Have: have},
		"no number":               {Link: link + "@30", Key: "-1.x", Have: have},
	} {
		if a := ask(t, h, q); !a.Fresh {
			t.Errorf("%s: the answer goes on", name)
		}
	}
	if a := ask(t, h, Request{Link: link + "~30.5:cut:bob@31", Key: key, Have: have}); a.Fresh {
		t.Error("a deed after what was seen begins again")
	}
}

// TestStepsAreBounded: steps end, although nobody records anything any more, and do not leave the bounds.
func TestStepsAreBounded(t *testing.T) {
	h := new(Host)
	five := int64(5_000_000)
	before := ask(t, h, Request{Link: "1;latch;usual;3;7", Until: &five})
	after := ask(t, h, Request{Link: "1;latch;usual;3;7", Until: &five, Steps: 1})
	if after.Records != before.Records+1 || after.Now <= before.Now || after.Now > before.Now+5_000_000 {
		t.Errorf("a step: %d records at %d, then %d at %d", before.Records, before.Now, after.Records, after.Now)
	}
	until := after.Now - after.Begin
	if again := ask(t, new(Host), Request{Link: "1;latch;usual;3;7", Until: &until}); again.Digest != after.Digest ||
		again.Moments != after.Moments || h.runs[0].w.Now() != until*1000 {
		t.Errorf("a step ends at %d ns, and the world at %d us is another one", h.runs[0].w.Now(), until)
	}
	dead := ask(t, h, Request{Link: "1;latch;usual;1;7~5:kill:alice@10", Steps: maxSteps})
	if dead.Now != dead.Begin+70_000_000 {
		t.Errorf("a dead world ends at %d", dead.Now-dead.Begin)
	}
	if last := ask(t, h, Request{Link: "1;latch;usual;1;7~5:kill:alice@590", Steps: maxSteps}); last.Now !=
		last.Begin+600_000_000 {
		t.Errorf("a step goes to %d", last.Now-last.Begin)
	}
}

func TestRequestsAreRefusedInWords(t *testing.T) {
	for request, want := range map[string]string{
		`{`:                              "it ends too early: want one JSON object",
		``:                               "it ends too early: want one JSON object",
		`[]`:                             "a request cannot be array: want one JSON object",
		`{"link":"1;latch;usual;3;7"} 7`: "more behind its end",
		`{"link":"1;latch;usual;3;7"}{}`: "more behind its end",
		`{"link":"1;latch;usual;3;7","have":{"alice":-1}}`: "have cannot be number -1: want",
		`{"until":` + strings.Repeat("9", 60_000) + `}`:    "until cannot be number 999",
		`{"` + strings.Repeat("k", 60_000) + `":1}`:        "unknown field",
		`{"` + strings.Repeat("\xff", 200) + `":1}`:        "unknown field",
		`{"link": 7}`:                                             "cannot be read",
		`{"link":"1;latch;usual;3;7","x":1}`:                      `unknown field \"x\"`,
		`{"link":"1;latch;usual;3;7","until":-1}`:                 "until -1: want 0 to 600000000",
		`{"link":"1;latch;usual;3;7","until":600000001}`:          "want 0 to 600000000",
		`{"link":"1;latch;usual;3;7","until":1e30}`:               "until cannot be number 1e30: want",
		`{"link":"1;latch;usual;3;7","steps":10001}`:              "want at most 10000",
		`{"link":"1;latch;usual;3;7","steps":-1}`:                 "want at most 10000",
		`{"link":"1;latch;usual;1000000000;7"}`:                   "want 1 to 9",
		`{"link":"` + strings.Repeat("~", 5000) + `"}`:            "want at most 4000",
		fmt.Sprintf(`{"link":"1;latch;usual;3;7~8:cut:%s"}`, "é"): "want one of alice",
	} {
		said, ok := new(Host).AskJSON([]byte(request))
		if ok || !strings.Contains(string(said), want) || !strings.HasPrefix(string(said), `{"error":"play: `) ||
			len(said) > 500 {
			t.Errorf("%.80s: %t %.300s, want %q", request, ok, said, want)
		}
	}
}

// TestAWorldHasABoundOfRecords: the busiest world stops there, and says so.
func TestAWorldHasABoundOfRecords(t *testing.T) {
	busy := "1;mutex;quick;9;7;work=0.01@600"
	a := ask(t, new(Host), Request{Link: busy})
	if a.Records < MaxRecords || a.Records > MaxRecords+10 || !strings.Contains(a.Stopped, "20000 records") ||
		a.Now >= a.Begin+600_000_000 {
		t.Errorf("%d records at %d: %q", a.Records, a.Now-a.Begin, a.Stopped)
	}
}

// TestAHostKeepsNothingOfAWorld: what was asked before changes no answer.
func TestAHostKeepsNothingOfAWorld(t *testing.T) {
	h := new(Host)
	for _, link := range []string{
		"1;latch;usual;3;7~8:freeze:alice:9@12", "1;latch;usual;3;7~8:cut:alice@20",
		"1;latch;usual;3;7~8:freeze:alice:9~15:cut:bob@20", "1;latch;usual;3;7~15:cut:bob@20",
		"1;latch;usual;3;7@3", "1;latch;usual;3;7~-8:freeze:alice:9@20", "1;latch;usual;3;7~-25:freeze:alice:9@20",
		"1;latch;usual;3;7;rideout~8:freeze:alice:9@20",
	} {
		if text(t, ask(t, h, Request{Link: link})) != text(t, ask(t, new(Host), Request{Link: link})) {
			t.Errorf("%s: another answer from a host that was asked before", link)
		}
	}
	if len(h.runs) > maxRuns {
		t.Errorf("a host keeps %d worlds", len(h.runs))
	}
}

// TestTransactionsHaveTheirMoment: they are shown when they were committed, to the microsecond.
func TestTransactionsHaveTheirMoment(t *testing.T) {
	h := new(Host)
	a, exact := ask(t, h, Request{Link: "1;latch;usual;3;7~8:delete:alice@20"}), 0
	for _, x := range a.Document.Picture.Txns {
		zxid, err := strconv.ParseInt(x.Zxid, 0, 64)
		if at := sinceEpoch(h.runs[0].commits[zxid]); err != nil || !x.Exact || x.From != at || x.To != at {
			t.Errorf("%s at %d, and it was committed at %d: %v", x.Text, x.From, at, err)
		}
		if x.From%1000 != 0 {
			exact++
		}
	}
	if exact == 0 {
		t.Error("no transaction, or all in whole milliseconds")
	}
}

// FuzzAsk: whatever is asked, the answer is JSON, and the same if it is asked again; a refusal says why.
func FuzzAsk(f *testing.F) {
	f.Add(`{"link":"1;latch;usual;3;7~8.5:freeze:alice:9@30","until":9000000,"steps":2,"have":{"alice":7},` +
		`"key":"1.x","charts":["latch"]}`)
	f.Add(`{"link":"1;semaphore;quick;3;7~-8:cut:bob~+8:cut:bob~8:cut:bob@9","have":{"alice":18446744073709551615,` +
		`"":1},"key":"9000000."}`)
	for _, l := range Lessons() {
		f.Add(`{"link":"` + l.Link + `"}`)
	}
	f.Fuzz(func(t *testing.T, request string) {
		h := new(Host)
		said, ok := h.AskJSON([]byte(request))
		var a struct{ Error, Digest string }
		if err := json.Unmarshal(said, &a); err != nil || ok == (a.Error != "") || ok == (a.Digest == "") ||
			len(a.Error) > 700 {
			t.Fatalf("%t %.300s: %v", ok, said, err)
		}
		if again, _ := h.AskJSON([]byte(request)); string(again) != string(said) {
			t.Errorf("another answer when it is asked again:\n%.300s\n%.300s", said, again)
		}
	})
}
