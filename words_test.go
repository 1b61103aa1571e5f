package incumbent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

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
