package ensemble_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

// A leader of the ensemble that stands still for longer than a session lasts
// commits what waits for it, and only then ends the sessions that it has
// not heard of. A write in that window is answered OK although its session ends a
// moment later: no client may take that for a confirmation.
//
// By what each client recorded: until when it ever said that it may be believed, and
// by an observer's log, on the same clock, when its node was gone. Whether a write
// gets through in between is the servers' luck. Where none did the test says so. In
// the end each has a latch lead.
func TestALeaderThatStoodStillConfirmsNothing(t *testing.T) {
	const sessions, tries = 80, 3
	e := ensemble.Start(t, ensemble.Options{})
	leader, followers := e.Whole()
	s := &stillness{t: t, e: e, at: followers[0], dice: rand.New(rand.NewPCG(repeat.Seed(t, 1), 0))}
	for range sessions {
		m := &member{tape: tape.New(t)}
		m.client = kit.Recorded(t, m.tape, s.config(), kit.CloseConnected)
		s.members = append(s.members, m)
	}
	for try := range tries {
		s.settleIn(try)
		through := s.stop(leader, 8200*time.Millisecond+s.upTo(600*time.Millisecond))
		if through > 0 {
			return
		}
		if leader, _ = e.Whole(); leader == s.at {
			break
		}
	}
	t.Logf("no write of a session that ended was answered OK while the leader woke: the case did not come up")
}

// stillness is many sessions at one follower, each with a node of its own.
type stillness struct {
	t       *testing.T
	e       *ensemble.Ensemble
	at      *ensemble.Server
	members []*member
	watches *tape.Tape
	dice    *rand.Rand
}

// upTo returns a time below d.
func (s *stillness) upTo(d time.Duration) time.Duration {
	return time.Duration(s.dice.Int64N(int64(d)))
}

type member struct {
	client *incumbent.Client
	tape   *tape.Tape
	path   string
	begun  int // what was on the tape when the leader was stopped
}

func (s *stillness) config() incumbent.Config {
	return incumbent.Config{Servers: s.e.Addrs(s.at), SessionTimeout: 6 * time.Second, Tick: s.e.Tick(),
		SyncLimit: s.e.SyncLimit(), RideOut: true}
}

// settleIn gives each member a node, and has an observer notice when it is gone.
func (s *stillness) settleIn(try int) {
	s.t.Helper()
	s.watches = tape.New(s.t)
	c := s.config()
	c.SessionTimeout = 40 * time.Second
	observer := kit.Recorded(s.t, s.watches, c, kit.CloseConnected)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	s.t.Cleanup(work.Wait)
	s.t.Cleanup(cancel)
	for i, m := range s.members {
		made, err := m.client.Create(fmt.Sprintf("/node-%d-%d", i, try), nil).Ephemeral().Do(ctx)
		ok(s.t, err)
		m.path = made
		seen := make(chan bool, 1) // the first look must not be missed
		work.Go(func() {
			for range observer.WatchNode(ctx, m.path) {
				select {
				case seen <- true:
				default:
				}
			}
		})
		<-seen
	}
}

// stop has the leader stand still, and each member write once, at a time of its
// own. It returns how many of those whose node went were answered OK.
func (s *stillness) stop(leader *ensemble.Server, rest time.Duration) (through int) {
	s.t.Helper()
	for _, m := range s.members {
		m.begun = len(m.tape.Records())
	}
	leader.Pause()
	answered := make([]error, len(s.members))
	ctx, cancel := context.WithTimeout(context.Background(), rest+enough)
	defer cancel()
	var writes sync.WaitGroup
	for i, m := range s.members {
		at := time.NewTimer(4*time.Second + s.upTo(rest-4*time.Second))
		writes.Go(func() {
			<-at.C // pause: each write has a moment of its own
			_, answered[i] = m.client.Create(m.path+"-written", nil).Do(ctx)
		})
	}
	<-time.After(rest) // pause: how long the leader stands still
	leader.Resume()
	writes.Wait()
	s.lead()
	ended, most := 0, time.Duration(0)
	for i, m := range s.members {
		gone := s.gone(m)
		if gone == 0 {
			continue
		}
		if ended++; answered[i] == nil {
			through++
		}
		if until := m.believed(gone); until > gone {
			most = max(most, time.Duration(until-gone))
			s.t.Errorf("%s was seen gone, and its session was said to be good for %s more", m.path,
				time.Duration(until-gone))
		}
	}
	s.t.Logf("the leader stood still for %s: %d of %d sessions ended, %d writes of these were answered OK, belief "+
		"outlasted a node by %s at the most",
		rest.Round(time.Millisecond), ended, len(s.members), through, most)
	return through
}

// lead has a latch of each member's lead until it was confirmed three times, which
// takes longer than a leader of the ensemble needs to end a session.
func (s *stillness) lead() {
	s.t.Helper()
	latches := make([]*incumbent.Latch, len(s.members))
	for i, m := range s.members {
		l, err := m.client.Latch(m.path+"-line",
			incumbent.LatchOptions{Retry: incumbent.RetryForever(50 * time.Millisecond)})
		ok(s.t, err)
		ok(s.t, l.Start())
		latches[i] = l
	}
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	for i, m := range s.members {
		m.tape.Until("a latch to lead for a while", m.confirmed)
		ok(s.t, latches[i].Close(ctx))
	}
}

// confirmed reports whether three heartbeats in a row were good for belief.
func (m *member) confirmed(records []events.Record) bool {
	beats := 0
	for _, r := range records[m.begun:] {
		switch {
		case r.Machine != events.SessionMachine:
		case r.Event.Kind == events.ConnectionLost:
			beats = 0
		case r.Row == "reply.multi [confirming]":
			beats++
		}
	}
	return beats >= 3
}

// gone returns when the observer heard that a member's node is gone; 0: it is there.
func (s *stillness) gone(m *member) int64 {
	s.t.Helper()
	if slices.ContainsFunc(m.tape.Records()[m.begun:], func(r events.Record) bool {
		return r.Event.Kind == events.ConnectionLost
	}) {
		s.watches.Until(m.path+" to go with its session", func(records []events.Record) bool {
			return slices.ContainsFunc(records, func(r events.Record) bool {
				return r.Event.Kind == events.WatchDeleted && r.Event.Path == m.path
			})
		})
	}
	for _, r := range s.watches.Records() {
		if r.Event.Kind == events.WatchDeleted && r.Event.Path == m.path {
			return r.Event.At
		}
	}
	return 0
}

// believed returns the latest deadline that a member published before its node was gone.
func (m *member) believed(gone int64) (until int64) {
	for _, r := range m.tape.Records()[m.begun:] {
		for _, effect := range r.Effects.Strings() {
			if text, deadline := strings.CutPrefix(effect, "valid until "); deadline && r.Event.At < gone {
				if d, err := time.ParseDuration(text); err == nil {
					until = max(until, int64(d))
				}
			}
		}
	}
	return until
}
