package why

import (
	"fmt"
	"strings"
)

// Ref names a record of a log.
type Ref struct {
	Log string `json:"log"`
	Seq uint64 `json:"seq"`
}

// String returns the record as it is cited: "host1:43".
func (r Ref) String() string { return fmt.Sprintf("%s:%d", r.Log, r.Seq) }

// Sentence is one statement, with the records that show it.
type Sentence struct {
	Text    string `json:"text"`
	Records []Ref  `json:"records,omitempty"`
}

// String returns the sentence with its records, without a full stop.
func (s Sentence) String() string {
	if len(s.Records) == 0 {
		return s.Text
	}
	cited := make([]string, len(s.Records))
	for i, r := range s.Records {
		cited[i] = r.String()
	}
	return s.Text + " [" + strings.Join(cited, " ") + "]"
}

type adder func(text string, refs ...Ref)
