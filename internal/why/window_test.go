package why

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A window has no more records than it may, and the picture no move, node or transaction of another time.
func TestAWindowLeavesOutWhatIsOfAnotherTime(t *testing.T) {
	s := newSimulated(t, 3, false)
	all := 0
	for _, l := range s.logs(t) {
		all += l.Records
	}
	if w := Explain(s.logs(t), nil, Options{}).Narrow(all); w != nil {
		t.Fatalf("all %d records may be shown, and %d are left out", all, w.Left)
	}
	whole := Explain(s.logs(t), nil, Options{})
	for _, most := range []int{all - 1, all / 2, all / 10, 0} {
		r := Explain(s.logs(t), nil, Options{})
		w := r.Narrow(most)
		kept := 0
		for i, p := range w.Parts {
			for j := range r.logs[i].recs.len() {
				if seq := r.logs[i].recs.at(j).seq; seq >= p.From && seq <= p.To {
					kept++
				}
			}
		}
		if kept > most || kept+w.Left != all || most > 0 && kept < most/2 {
			t.Errorf("%d of %d records are kept and %d left out, want up to %d", kept, all, w.Left, most)
		}
		pic := r.Picture()
		for _, m := range pic.Moves {
			if max(m.From, m.To) < w.from/micro-1 {
				t.Errorf("a move of %v is in a window from %v", time.UnixMicro(m.To), time.Unix(0, w.from))
			}
		}
		for _, x := range pic.Txns {
			if x.To < w.from/micro {
				t.Errorf("transaction %s is in the window", x.Zxid)
			}
		}
		if d := pic.Doubts[0].Text; !strings.Contains(d, plural(w.Left, "record")+" and ") {
			t.Errorf("%q does not say that %d records are left out", d, w.Left)
		}
		if r.Verdict != whole.Verdict || len(r.Moves) != len(whole.Moves) {
			t.Error("a window changed the report")
		}
	}
}

// The window of moves that were asked for is about their time, also if later records are many.
func TestAWindowIsAboutWhatWasAskedFor(t *testing.T) {
	s := newSimulated(t, 3, false)
	first := Explain(s.logs(t), nil, Options{}).Moves[0]
	r := Explain(s.logs(t), nil, Options{Token: first.To.Token})
	w := r.Narrow(60)
	for _, m := range r.Moves {
		if !w.has(m) {
			return // too many records are between them
		}
	}
	if w.to > r.Moves[len(r.Moves)-1].when+margin {
		t.Errorf("the window ends %v, a minute and more after the last move", time.Unix(0, w.to))
	}
}

// Scripts read lists: what there is nothing of is an empty one, and not null.
func TestAPictureHasNoNull(t *testing.T) {
	s := newSimulated(t, 3, false)
	r := Explain(s.logs(t), nil, Options{})
	r.Doubts = nil
	pic, err := json.Marshal(r.Picture())
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(string(pic), ":null"); at >= 0 {
		t.Errorf("null in %s", pic[max(0, at-60):at+5])
	}
}
