package play

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const example = "1;latch;usual;3+1;7;rideout;forgets=bob;work=2.5;bug=late-deadline~8.5:freeze:alice:9~" +
	"-14:lose-reply:bob~+20:isolate:b:8~31.25:start:dave~40:depose:3.000001@60"

func TestALinkHoldsTheScript(t *testing.T) {
	want := Script{Recipe: "latch", Scenario: "usual", Starting: 3, Waiting: 1, Seed: 7, RideOut: true, Forgets: "bob",
		Works: 2500 * time.Millisecond, Bug: "late-deadline", Until: time.Minute, Deeds: []Deed{
			{At: 8500 * time.Millisecond, Verb: "freeze", Target: "alice", For: 9 * time.Second},
			{Mark: TakenOut, At: 14 * time.Second, Verb: "lose-reply", Target: "bob"},
			{Mark: Added, At: 20 * time.Second, Verb: "isolate", Target: "b", For: 8 * time.Second},
			{At: 31250 * time.Millisecond, Verb: "start", Target: "dave"},
			{At: 40 * time.Second, Verb: "depose", For: 3*time.Second + time.Microsecond},
		}}
	got, err := ParseLink(example)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	if link := want.Link(); link != example {
		t.Errorf("%s\nwant\n%s", link, example)
	}
	four := "1;latch;usual;3+1;7~8.5:freeze:alice:9~14:lose-reply:bob~20:isolate:b:8~31.25:start:dave@60"
	if s, err := ParseLink(four); err != nil || s.Link() != four || len(four) > 200 {
		t.Errorf("%v: %s has %d bytes", err, s.Link(), len(four))
	}
}

// The answer's link is one that is read as the same script, whatever the order in which deeds were added.
func TestALinkHasTheDeedsInTheirOrder(t *testing.T) {
	s, err := ParseLink("1;latch;usual;3;7~20.50:cut:bob~8:cut:alice~20.5:kill:bob")
	if want := "1;latch;usual;3;7~8:cut:alice~20.5:cut:bob~20.5:kill:bob@20"; err != nil || s.Link() != want {
		t.Errorf("%v: %s, want %s", err, s.Link(), want)
	}
}

func TestHostileLinksAreRefusedInWords(t *testing.T) {
	const head = "1;latch;usual;3;7"
	for link, want := range map[string]string{
		"":                           "begins with \"\": want one like 1;latch;usual;3;7",
		strings.Repeat("x", 1<<20):   "a link of 1048576 bytes: want at most 4000",
		"2;latch;usual;3;7":          "want one like 1;latch",
		"1;latch":                    "want one like 1;latch",
		"1;shout;usual;3;7":          `no recipe "shout": want one of doublebarrier, latch`,
		"1;latch;mars;3;7":           `no scenario "mars": want one of usual, quick`,
		"1;latch;usual;1000000000;7": "want 1 to 9",
		"1;latch;usual;0;7":          "want 1 to 9",
		"1;latch;usual;9+9;7":        "at most 9 in all",
		"1;latch;usual;-3;7":         "want 1 to 9",
		"1;latch;usual;NaN;7":        "want 1 to 9",
		"1;latch;usual;3;NaN":        "the seed \"NaN\": want 0 to 999999999",
		"1;latch;usual;3;-1":         "the seed",
		"1;latch;usual;3;07":         "the seed",
		"1;latch;usual;3;1e9":        "the seed",
		"1;latch;usual;3;1000000000": "the seed",
		"1;latch;usual;3;" + strings.Repeat("9", 400): "the seed",
		head + ";loud":                            "want rideout, forgets=NAME",
		head + ";rideout;rideout":                 "each once and in this order",
		head + ";bug=":                            "the option \"bug=\"",
		head + ";bug=none":                        `no bug "none": want one of reads-confirm`,
		head + ";bug=late-deadline;rideout":       "in this order",
		head + ";forgets=mallory":                 "want one of alice, bob, carol",
		head + ";work=NaN":                        "want 1 to 3 digits",
		head + ";work=601":                        "at most 10m0s",
		head + "@1e9":                             "until: \"1e9\" s: want 1 to 3 digits",
		head + "@999":                             "at most 10m0s",
		head + "@600.000001":                      "at most 10m0s",
		head + "@20@20":                           "until",
		head + "@":                                "until",
		head + "~":                                "deed 1: \"\": want SECONDS:VERB",
		head + "~8":                               "want SECONDS:VERB",
		head + "~8:sing:alice":                    `no verb "sing": want one of start`,
		head + "~NaN:cut:alice":                   "want 1 to 3 digits",
		head + "~Infinity:cut:alice":              "want 1 to 3 digits",
		head + "~-8:cut":                          `cut of "": want one of alice, bob, carol`,
		head + "~--8:cut:bob":                     "want 1 to 3 digits",
		head + "~8:cut:dave":                      `cut of "dave": want one of alice, bob, carol`,
		head + "~8:cut:bob:9":                     "cut has no \"9\"",
		head + "~8:isolate:d:9":                   "want one of a, b, c",
		head + "~8:isolate:b":                     "isolate for 0s",
		head + "~8:freeze:alice:0":                "more than 0",
		head + "~8:freeze:alice:9:9":              "want SECONDS:VERB",
		head + "~8:freeze:alice:9:9:9":            "want SECONDS:VERB",
		head + "~8:freeze:alice:1000":             "want 1 to 3 digits",
		head + "~8:freeze:alice:0.0000001":        "up to 6 behind a point",
		head + "~8.:cut:bob":                      "up to 6 behind a point",
		head + "~08:cut:bob":                      "want 1 to 3 digits",
		head + "~٣:cut:bob":                       "want 1 to 3 digits",
		head + "~999:cut:bob":                     "at most 10m0s",
		head + "~8:depose:15":                     "notices after 14s",
		head + "~8:depose:b:3":                    "want 1 to 3 digits",
		head + strings.Repeat("~8:cut:bob", 51):   "51 deeds: want at most 50",
		head + "~8:cut:<script>alert(1)</script>": "want one of alice",
		head + "~8:cut:\xff\x00":                  "want one of alice",
	} {
		s, err := ParseLink(link)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.60q: %v, want %q (%+v)", link, err, want, s)
		}
	}
}

// FuzzParseLink: what is read is written, and read again as the same; what is refused says why.
func FuzzParseLink(f *testing.F) {
	f.Add(example)
	f.Add("1;semaphore;observers;9;0@0.000001")
	for _, l := range Lessons() {
		f.Add(l.Link)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseLink(text)
		if err != nil {
			if len(err.Error()) > 500 || !strings.HasPrefix(err.Error(), "play: ") {
				t.Errorf("%q", err)
			}
			return
		}
		again, err := ParseLink(s.Link())
		if err != nil || again.Link() != s.Link() || !reflect.DeepEqual(again, s) {
			t.Errorf("%q is written as %q, and then %q: %v", text, s.Link(), again.Link(), err)
		}
	})
}
