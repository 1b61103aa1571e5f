package play

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/internal/page"
)

// Answer is what a request asks for.
type Answer struct {
	Link         string           `json:"link"`  // with Now as its end
	Key          string           `json:"key"`   // identifies what has happened so far: for the next request
	Fresh        bool             `json:"fresh"` // Document has all records
	Begin        int64            `json:"begin"`
	Now          int64            `json:"now"`
	Script       ScriptView       `json:"script"`
	Document     *page.Document   `json:"document"`
	Participants []Participant    `json:"participants"`
	Servers      []Server         `json:"servers"`
	Nodes        []Node           `json:"nodes"`
	Deeds        []DeedOutcome    `json:"deeds"`
	Promises     []PromiseOutcome `json:"promises"`
	Broken       []Broken         `json:"broken"`
	Bug          *Bug             `json:"bug,omitempty"`
	Records      uint64           `json:"records"`
	Moments      uint64           `json:"moments"`
	Digest       string           `json:"digest"`
	Stopped      string           `json:"stopped"`
	// the world without what was added, and with what was taken out
	Before *Before `json:"before,omitempty"`
}

// ScriptView is a script as a page needs it.
type ScriptView struct {
	Recipe   string     `json:"recipe"`
	Scenario string     `json:"scenario"`
	Names    []string   `json:"names"`
	Starting int        `json:"starting"`
	Seed     int64      `json:"seed"`
	RideOut  bool       `json:"rideOut"`
	Forgets  string     `json:"forgets"`
	Works    int64      `json:"works"` // microseconds
	Bug      string     `json:"bug"`
	Head     string     `json:"head"` // the link's beginning, before the deeds
	Deeds    []DeedView `json:"deeds"`
}

// DeedView is a deed of a script.
type DeedView struct {
	Text   string `json:"text"` // in the link, with its mark
	Mark   Mark   `json:"mark"`
	At     int64  `json:"at"`
	Verb   string `json:"verb"`
	Target string `json:"target"`
	For    int64  `json:"for"`
}

// DeedOutcome is what a deed did.
type DeedOutcome struct {
	I    int    `json:"i"` // its index in ScriptView.Deeds
	At   int64  `json:"at"`
	Done bool   `json:"done"`
	Says string `json:"says"` // what it did
	Why  string `json:"why"`  // or why nothing
}

// PromiseOutcome is a promise, and how often it was broken.
type PromiseOutcome struct {
	Promise
	Broken int `json:"broken"`
}

// Broken is a broken promise.
type Broken struct {
	At      int64    `json:"at"`
	Promise string   `json:"promise"`
	Text    string   `json:"text"`
	Who     []string `json:"who"`
}

const (
	maxSteps = 10_000
	within   = time.Minute // of the world: a step takes no longer
	maxRuns  = 6           // that a Host keeps
)

// Host answers requests. It keeps the last worlds, so that a request that continues one is quick; its answers do not
// depend on them. It is not safe for concurrent use. The zero value is ready to use.
type Host struct{ runs []*run }

// Ask answers a request. The error says what is wrong with the request, and what would be right.
func (h *Host) Ask(q Request) (*Answer, error) {
	s, err := ParseLink(q.Link)
	if err != nil {
		return nil, err
	}
	until := s.Until
	if q.Until != nil {
		if *q.Until < 0 || *q.Until > MaxUntil.Microseconds() {
			return nil, fmt.Errorf("play: until %d: want 0 to %d microseconds", *q.Until, MaxUntil.Microseconds())
		}
		until = time.Duration(*q.Until) * time.Microsecond
	}
	if q.Steps < 0 || q.Steps > maxSteps {
		return nil, fmt.Errorf("play: %d steps: want at most %d", q.Steps, maxSteps)
	}
	r, err := h.play(s.Now(), until, q.Steps)
	if err != nil {
		return nil, err
	}
	a := r.answer(s)
	after := map[string]uint64{}
	if a.Fresh = !r.follows(q.Key); !a.Fresh {
		after = q.Have
	}
	if a.Document, err = r.document(after, q.Charts); err != nil {
		return nil, err
	}
	if s.WhatIf() {
		other, err := h.play(s.Before(), time.Duration(r.now()), 0)
		if err != nil {
			return nil, err
		}
		if a.Before, err = r.before(other, s); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// play returns a world at a moment, or that many records later.
func (h *Host) play(s Script, until time.Duration, steps int) (*run, error) {
	i := slices.IndexFunc(h.runs, func(r *run) bool { return r.continues(s, until) })
	var r *run
	if i >= 0 {
		r = h.runs[i]
		h.runs = slices.Delete(h.runs, i, i+1)
	} else {
		var err error
		if r, err = newRun(s, until); err != nil {
			return nil, err
		}
	}
	if err := r.until(s, until); err != nil {
		return nil, err
	}
	if steps > 0 {
		if err := r.step(s, steps, within); err != nil {
			return nil, err
		}
	}
	r.script = s
	h.runs = append(h.runs, r)
	if len(h.runs) > maxRuns {
		h.runs = slices.Delete(h.runs, 0, 1)
	}
	return r, nil
}

// key says what has happened so far: until when, and a hash of what was done by then.
func key(s Script, now int64) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Head())) // it never fails
	for _, d := range s.Deeds {
		if int64(d.At) <= now {
			_, _ = h.Write([]byte("~" + d.Text()))
		}
	}
	return strconv.FormatInt(now/1000, 10) + "." + strconv.FormatUint(h.Sum64(), 16)
}

// follows reports whether a page with this key has the beginning of this world.
func (r *run) follows(k string) bool {
	micros, _, _ := strings.Cut(k, ".")
	n, err := strconv.ParseInt(micros, 10, 64)
	return err == nil && n >= 0 && n <= r.now()/1000 && key(r.script, n*1000) == k
}

// answer returns all but the document.
func (r *run) answer(s Script) *Answer {
	now := r.now()
	s.Until = time.Duration(now)
	a := &Answer{Link: s.Link(), Key: key(r.script, now), Begin: sinceEpoch(0), Now: sinceEpoch(now), Script: s.view(),
		Participants: r.participants(), Servers: r.lives(),
		Nodes: r.nodes(), Deeds: r.deeds(s, Added), Promises: []PromiseOutcome{}, Broken: r.violations(), Bug: r.bug,
		Records: r.w.Records(), Moments: r.w.Moments(), Digest: r.digest(), Stopped: r.stopped()}
	for _, p := range promisesOf(s.Recipe) {
		one := PromiseOutcome{Promise: p}
		for _, b := range a.Broken {
			if b.Promise == p.Name {
				one.Broken++
			}
		}
		a.Promises = append(a.Promises, one)
	}
	return a
}

// violations returns the broken promises.
func (r *run) violations() []Broken {
	all := []Broken{}
	for _, v := range r.promises.broken {
		all = append(all, Broken{sinceEpoch(v.at), v.promise, v.text, append([]string{}, v.who...)})
	}
	return all
}

// deeds returns what the deeds without a mark, and those with this one, have done so far.
func (r *run) deeds(s Script, mark Mark) []DeedOutcome {
	all := []DeedOutcome{}
	for i, d := range s.Deeds {
		if d.Mark != Done && d.Mark != mark || len(all) == len(r.did) {
			continue
		}
		o := r.did[len(all)]
		all = append(all, DeedOutcome{I: i, At: sinceEpoch(int64(d.At)), Done: o.why == "", Says: o.says, Why: o.why})
	}
	return all
}

// view returns the script as a page needs it.
func (s Script) view() ScriptView {
	v := ScriptView{Recipe: s.Recipe, Scenario: s.Scenario, Names: s.Participants(), Starting: s.Starting, Seed: s.Seed,
		RideOut: s.RideOut, Forgets: s.Forgets,
		Works: micros(s.Works), Bug: s.Bug, Head: s.Head(), Deeds: []DeedView{}}
	for _, d := range s.Deeds {
		v.Deeds = append(v.Deeds, DeedView{d.Text(), d.Mark, sinceEpoch(int64(d.At)), d.Verb, d.Target, micros(d.For)})
	}
	return v
}
