package incumbent

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/incumbent-go/incumbent/events"
)

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
		if text := err.Error(); len(text) > 4<<10 || strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "\u202e") {
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
