package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A line of 2 MiB of fields is read in a time in proportion to its length: this test does not end else.
func TestALineOfManyFields(t *testing.T) {
	var fields strings.Builder
	for i := 0; fields.Len() < 256<<10; i++ {
		fmt.Fprintf(&fields, `,"f%d":0`, i)
	}
	many := fields.String()
	for name, twice := range map[string]string{"known": `,"seq":1`, "the first": `,"f0":0`,
		"the last": many[strings.LastIndexByte(many, ','):], "none": ""} {
		for line, place := range map[string]string{
			"record": `{"seq":1,"at":0,"id":"m-1","row":"command.start","to":"x"%s`,
			"note":   `{"late":{"at":"1","by":"2"%s}`,
		} {
			var b bytes.Buffer
			w, err := NewWriter(&b, Header{})
			if err != nil {
				t.Fatal(err)
			}
			w.line = fmt.Appendf(w.line[:0], place, many+twice)
			if err := errors.Join(w.end(), w.Flush()); err != nil {
				t.Fatal(err)
			}
			r, err := NewReader(&b)
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Next()
			fine := twice == "" || name == "known" && line == "note"
			if fine != (err == nil || errors.Is(err, io.EOF)) ||
				!fine && !strings.Contains(err.Error(), "stands there twice") {
				t.Errorf("%s twice in a %s: %.200v", name, line, err)
			}
		}
	}
}
