package world

import (
	"strings"
	"testing"
	"time"
)

// TestEveryActionSaysWhatItDid checks that the outcome of every action says that it was
// done, or why not.
func TestEveryActionSaysWhatItDid(t *testing.T) {
	for do, kind := range actions {
		who := 0
		s := three("latch")
		w, err := New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Until(at(20 * time.Second))
		for c := range 3 {
			if (do == Resign) == w.Clients()[c].Holds() {
				who = c
			}
		}
		for i, server := range w.Ensemble().Servers() {
			if kind.to == toServer && server != w.Ensemble().Leader() {
				who = i
			}
		}
		if do == Start {
			s.Clients[who].Waits = true
		}
		s.Actions = []Action{{At: at(20 * time.Second), Do: do, Who: who, For: time.Second}}
		if o := play(t, s, 40*time.Second).w.Outcomes()[0]; o.Why != nil {
			t.Errorf("%s", o)
		}
	}
	moment := at(20 * time.Second)
	for _, c := range []struct {
		actions []Action
		want    string
	}{
		{[]Action{{At: moment, Do: Start}}, "was started already"},
		{[]Action{{At: moment, Do: Close}, {At: moment + 1, Do: Close}}, "closes, or has closed"},
		{[]Action{{At: moment, Do: Close}, {At: moment + 1, Do: Resign}}, "closes, or has closed"},
		{[]Action{{At: 1, Do: Resign}}, "not started yet"},
		{[]Action{{At: moment, Do: Kill}, {At: moment, Do: Freeze, For: 1}}, "the process is dead"},
		{[]Action{{At: moment, Do: Freeze, For: time.Second}, {At: moment, Do: Close}}, "is paused until 21s"},
		{[]Action{{At: 1, Do: Cut}}, "no connection"},
		{[]Action{{At: 1, Do: Mute}}, "no connection"},
		{[]Action{{At: 1, Do: LoseReply}}, "no connection"},
		{[]Action{{At: 1, Do: Expire}}, "no session"},
		{[]Action{{At: 1, Do: Delete}}, "no node of its own"},
		{[]Action{{At: moment, Do: Depose, For: time.Minute}, {At: moment + 1, Do: Depose, For: 1}}, "no server leads"},
		{[]Action{{At: moment, Do: FreezeServer, For: time.Second}, {At: moment + 1, Do: FreezeServer, For: 1}},
			"is frozen already"},
		{[]Action{{At: moment, Do: FreezeServer, For: time.Hour}}, "would give it up"},
	} {
		outcomes := play(t, three("latch", c.actions...), 30*time.Second).w.Outcomes()
		if last := outcomes[len(outcomes)-1]; last.Why == nil || !strings.Contains(last.String(), c.want) {
			t.Errorf("%v: %v, want %q", c.actions, outcomes, c.want)
		}
	}
	leads := 0
	for who := range Servers {
		for _, do := range []string{Isolate, Crash} {
			o := play(t, three("latch", Action{At: moment, Do: do, Who: who, For: time.Second}),
				30*time.Second).w.Outcomes()[0]
			if o.Why != nil && strings.Contains(o.Why.Error(), "the server leads") {
				leads++
			}
		}
	}
	if leads != 2 {
		t.Errorf("%d actions were refused by a leader, want 2", leads)
	}
}
