package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Every state of every machine that a handle waits for has its words.
func TestEveryStateHasWords(t *testing.T) {
	seen := map[string]bool{}
	for _, recipe := range machines.Recipes() {
		if recipe.Name() == machines.SessionRecipe.Name() {
			continue
		}
		chart := recipe.Describe()
		for _, state := range chart.States {
			own, shared := recipe.Name()+" "+string(state.Name), string(state.Name)
			seen[own], seen[shared] = true, true
			if phases[own] == "" && phases[shared] == "" && !chart.Choice(state.Name) {
				t.Errorf("no words for %s", own)
			}
		}
	}
	for key := range phases {
		if !seen[key] {
			t.Errorf("there is no state %q", key)
		}
	}
}

// The reason is that of the moment in which the context ended: what the call does then, to
// leave nothing behind, is not in it.
func TestTheReasonIsOlderThanTheEnd(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		w.start()
		second := w.start().latch
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		_, err := second.participant.await(ctx, ctx, "await", func(uint64) { fine(t, second.Close(t.Context())) })
		if !strings.HasPrefix(err.Error(), "incumbent: await /line: waiting behind the node ") {
			t.Error(err)
		}
	})
}

// The predecessor's data and the notice about it may come in either order, and at once; data
// of an earlier predecessor are not taken for the present one's.
func TestPredecessorInEitherOrder(t *testing.T) {
	kept := func(id string, token int64) zkio.Kept {
		return zkio.Kept{Data: []byte(id), Stat: &zkio.Stat{Czxid: token}}
	}
	notice := func(request uint64) events.Notify {
		return events.Notify{What: events.Waiting, Behind: fmt.Sprintf("/line/n-%d", request), Ahead: 1, Work: request}
	}
	for name, order := range map[string]func(p *participant){
		"the notice first": func(p *participant) { p.noteTerm(notice(7)); p.keep(7, kept("a", 5)) },
		"the data first":   func(p *participant) { p.keep(7, kept("a", 5)); p.noteTerm(notice(7)) },
		"an earlier reply in between": func(p *participant) {
			p.noteTerm(notice(7))
			p.keep(7, kept("a", 5))
			p.keep(6, kept("b", 4))
		},
		"a later read that is refused": func(p *participant) {
			p.noteTerm(notice(7))
			p.keep(7, kept("a", 5))
			p.keep(8, zkio.Kept{})
		},
		"both at once": func(p *participant) {
			var both sync.WaitGroup
			both.Go(func() { p.noteTerm(notice(7)) })
			both.Go(func() { p.keep(7, kept("a", 5)) })
			both.Go(func() { _ = p.placeInWords() })
			both.Wait()
		},
	} {
		p, waiting := &participant{}, "waiting"
		p.phase.Store(&waiting)
		order(p)
		if got := p.before.words(false); got != `waiting behind "a" (token 5)` {
			t.Errorf("%s: %s", name, got)
		}
		p.noteTerm(notice(9))
		if got := p.before.words(false); got != `waiting behind the node "n-9"` {
			t.Errorf("%s, then another predecessor: %s", name, got)
		}
	}
}

// Credentials that are refused are no reason to try again.
func TestRefusedCredentialsAreNotRetryable(t *testing.T) {
	refused := asCallError("lock", "/m", fault.Because("not connected", ErrNotConnected, ErrAuthFailed))
	if Retryable(refused) || !Retryable(asCallError("lock", "/m", ErrNotConnected)) {
		t.Error("wrong")
	}
}

// What others wrote is on one line in an error, printable, and cut.
func TestErrorsCutWhatOthersWrote(t *testing.T) {
	evil := "\x1b]0;owned\a\u202e\nFORGED line " + strings.Repeat("x", 100_000)
	codec := failingCodec{errors.New(evil)}
	data, _ := pack[string](Text(), []string{"item"})
	_, decode := unpack[string](codec, data)
	for name, err := range map[string]error{
		"a refusal":         asError(events.NoNode, evil),
		"one with a name":   asError(events.NoAuth, "/line/"+evil),
		"a codec's refusal": decode,
	} {
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		if text := err.Error(); len(text) > 4<<10 || strings.ContainsFunc(text, unicode.IsControl) ||
			strings.Contains(text, "\u202e") {
			t.Errorf("%s: %d bytes: %.200q", name, len(text), text)
		}
	}
	if !errors.Is(decode, codec.err) {
		t.Errorf("the codec's error is not in %v", decode)
	}
}

// failingCodec decodes nothing.
type failingCodec struct{ err error }

func (c failingCodec) Encode(string) ([]byte, error) { return nil, c.err }
func (c failingCodec) Decode([]byte) (string, error) { return "", c.err }
