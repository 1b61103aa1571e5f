package door_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The log has what became of each guarded write: committed, refused, or not known. It has none that was not sent.
func TestGuardedWritesAreRecorded(t *testing.T) {
	var log bytes.Buffer
	var held *incumbent.Leadership
	var from, to int64
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordTo(&log), &lines{}, 0)
		held = n.leads()
		from = w.now()
		for _, committed := range []bool{true, false} { // then the node exists
			if _, err := held.Write(t.Context(), incumbent.CreateNode("/data", nil)); (err == nil) != committed {
				t.Fatal(err)
			}
		}
		end := w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
			if r.Op == zkmem.OpMulti {
				v.Delay = time.Second
			}
			return v
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := held.Write(ctx, incumbent.CreateNode("/late", nil)); !errors.Is(err, incumbent.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		end()
		if _, err := held.Write(ctx, incumbent.CreateNode("/unsent", nil)); err == nil {
			t.Fatal("a write was sent although its context had ended")
		}
		to = w.now()
		held.Release()
	})
	r, err := events.NewReader(&log)
	if err != nil {
		t.Fatal(err)
	}
	var got []events.Write
	r.Notes = func(n events.Note) {
		if n.Write != nil {
			got = append(got, *n.Write)
		}
	}
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) || len(got) != 3 {
		t.Fatalf("%v, %+v", err, got)
	}
	for i, w := range got {
		committed, refused := i == 0, events.Code("")
		if i == 1 {
			refused = events.NodeExists
		}
		if w.Path != held.Term().Path || w.Token != held.Token() || w.Sent < from || w.At < w.Sent || w.At > to ||
			(w.Zxid > held.Token()) != committed || w.Refused != refused {
			t.Errorf("%d: %+v", i, w)
		}
	}
}
