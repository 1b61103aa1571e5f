package play

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Request asks for a world as it is at a moment.
type Request struct {
	Link string `json:"link"`
	// microseconds since the world's beginning; without it the link's own
	Until *int64 `json:"until,omitempty"`
	Steps int    `json:"steps,omitempty"` // how many more records to play after that moment
	// by participant: the last record that the page has; it gets those behind it
	Have map[string]uint64 `json:"have,omitempty"`
	Key  string            `json:"key,omitempty"` // of the answer that Have belongs to
	// Charts has the charts whose pictures the page has: the answer leaves them out.
	Charts []string `json:"charts,omitempty"`
}

// AskJSON answers a request that is JSON with JSON: {"error": "…"} for an error.
func (h *Host) AskJSON(request []byte) (answer []byte, ok bool) {
	q, err := readRequest(request)
	if err != nil {
		return refusal(err), false
	}
	a, err := h.Ask(q)
	if err != nil {
		return refusal(err), false
	}
	if answer, err = json.Marshal(a); err != nil {
		return refusal(err), false
	}
	return answer, true
}

func refusal(err error) []byte {
	b, _ := json.Marshal(map[string]string{"error": strings.ToValidUTF8(err.Error(), "?")}) // a text can be written
	return b
}

// readRequest reads a request. Its error says what is wrong with it in few words, however long the request is.
func readRequest(request []byte) (q Request, err error) {
	d := json.NewDecoder(bytes.NewReader(request))
	d.DisallowUnknownFields()
	err = d.Decode(&q)
	if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("there is more behind its end")
	}
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return q, nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends too early")
	case errors.As(err, &kind):
		err = fmt.Errorf("%s cannot be %.40s", cmp.Or(kind.Field, "a request"), kind.Value)
	}
	return q,
		fmt.Errorf(`play: a request that cannot be read: %.100s: want one JSON object such as `+
			`{"link":"1;latch;usual;3;7"}, with whole numbers for until, steps and what is in have`, err)
}
