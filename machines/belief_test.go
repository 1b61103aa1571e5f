package machines

import (
	"testing"
	"time"
)

// A deposed leader answers syncs until it notices. Belief that depends on its last answer has to end
// before its successor can expire the session. The successor counts the whole timeout from when the
// followers left. That has to hold even if a disconnect is never noticed, or is ridden out.
func TestBeliefBySyncEndsBeforeASuccessorCanExpireTheSession(t *testing.T) {
	bySync := 0
	for _, tick := range []time.Duration{100 * time.Millisecond, 2 * time.Second, 3 * time.Second} {
		for _, limit := range []int{1, 2, 5, 10} {
			for ticks := 2; ticks <= 40; ticks++ {
				s := timing{tick: tick, syncLimit: limit, timeout: time.Duration(ticks) * tick, since: 1}
				if !s.bySync() {
					continue
				}
				bySync++
				answered := s.timeout // the last sync is sent this long after the count began, and then some
				for _, contact := range []int64{0, int64(answered)} {
					ends := s.deposedAnswerTime() + s.beliefSpan(int64(answered), contact)
					if latest := s.timeout - s.slack(); ends > latest {
						t.Errorf("T=%s tick=%s syncLimit=%d: belief lasts until %s, and the session %s", s.timeout,
							tick, limit, ends, s.timeout)
					}
					if ends = s.deposedAnswerTime() + s.sessionLife(int64(answered), contact); ends > s.timeout {
						t.Errorf("T=%s tick=%s syncLimit=%d: alone until %s, and the session lasts %s", s.timeout, tick,
							limit, ends, s.timeout)
					}
				}
			}
		}
	}
	if bySync == 0 {
		t.Error("no timeout at all is confirmed by sync")
	}
}

func TestTheDefaultSessionIsConfirmedByWritesAndALongOneBySync(t *testing.T) {
	const second = time.Second
	for tick, timeouts := range map[time.Duration]map[time.Duration]bool{
		2 * second:  {4 * second: false, 15 * second: false, 29 * second: false, 30 * second: true, 40 * second: true},
		DefaultTick: {4 * second: false, 15 * second: false, 44 * second: false, 45 * second: true, 60 * second: true},
	} {
		for timeout, want := range timeouts {
			s := timing{tick: tick, syncLimit: 5, timeout: timeout}
			if got := s.bySync(); got != want {
				t.Errorf("%s by sync with a tick of %s: %t, want %t", timeout, tick, got, want)
			}
		}
	}
}

// However long this process was paused before a confirmation: sessionLife is never longer than the
// timeout after the last contact that the ensemble's leader surely knew of.
func TestASessionIsNotSaidToOutliveItsLastContact(t *testing.T) {
	for _, tick := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		for ticks := 4; ticks <= 40; ticks++ {
			s := timing{tick: tick, syncLimit: 5, timeout: time.Duration(ticks) * tick, since: 1}
			for tenths := range int64(10) {
				sent := int64(3 * s.timeout)
				contact := sent - int64(s.timeout)*tenths/10
				life := s.sessionLife(sent, contact)
				if ends := sent + int64(life); ends > contact+int64(s.timeout) {
					t.Errorf("T=%s tick=%s: alone until %s after a contact %s before it", s.timeout, tick, life,
						time.Duration(sent-contact))
				}
				if span := s.beliefSpan(sent, contact); span > life {
					t.Errorf("T=%s tick=%s: belief lasts %s, and the session %s", s.timeout, tick, span, life)
				}
			}
		}
	}
}

// Behind observer masters a session is reported up to a whole tick after the contact. So belief has to
// end half a tick earlier, whatever it depends on.
func TestBehindObserverMastersAReportTakesAWholeTick(t *testing.T) {
	for ticks := 3; ticks <= 40; ticks++ {
		near := timing{tick: 2 * time.Second, syncLimit: 5, timeout: time.Duration(ticks) * 2 * time.Second, since: 1}
		far := near
		far.observerMasters = true
		sent := int64(3 * near.timeout)
		if got, most := far.sessionLife(sent, 0), near.timeout-far.period()-far.tick-far.slack(); got > most ||
			got > near.sessionLife(sent, 0) {
			t.Errorf("T=%s: the session is said to live for %s, at most %s are sure", near.timeout, got, most)
		}
		if far.beliefSpan(sent, 0) <= far.period() {
			t.Errorf("T=%s: belief lasts %s, and the next heartbeat comes after %s", far.timeout,
				far.beliefSpan(sent, 0), far.period())
		}
		if got, want := far.settling(), 3*time.Second; got != want {
			t.Errorf("T=%s: the leader settles for %s, want %s", far.timeout, got, want)
		}
	}
}
