package incidents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
)

// Truth is what happened in an incident of two causes, by those who made it: what was done, and what the driver of the
// incident saw of the participants' work. Nothing of it comes from a log or from package why, only the codes of causes
// are those of why. It is the file truth.json next to the logs.
type Truth struct {
	What string   `json:"what"` // in one sentence
	Did  []string `json:"did"`  // what was done, with the times

	Terms  []Led    `json:"terms"` // who led when, in order
	Leads  string   `json:"leads"` // who leads at the end; "" for nobody
	Over   string   `json:"over"`  // when the incident was over: RFC 3339
	Nobody Nobody   `json:"nobody"`
	Worked Worked   `json:"worked"`
	Why    []Reason `json:"why"`
	// Clocks are the wall clocks that are wrong: by whose log, and how many seconds ahead.
	Clocks map[string]float64 `json:"clocks,omitempty"`
	// Do are the causes about which something has to be done. Each entry has codes of which one is enough.
	Do [][]why.Cause `json:"do"`
	// CannotTell is what the logs that are kept do not show, "" for nothing.
	CannotTell string `json:"cannotTell,omitempty"`
}

// Led is one term, as the work's signs of life show it.
type Led struct {
	Leader string   `json:"leader"`
	From   string   `json:"from"`
	Until  *Between `json:"until,omitempty"`  // nil: it goes on
	Hidden bool     `json:"hidden,omitempty"` // its log is not kept
}

// Between is an instant that is known up to two bounds.
type Between struct {
	Earliest string `json:"earliest"`
	Latest   string `json:"latest"`
}

// Nobody says for how long nobody led, in seconds.
type Nobody struct {
	Total   [2]float64 `json:"total"` // at least, and at most
	Longest [2]float64 `json:"longest"`
}

// Worked says whether two worked at once, and for how many seconds, at least and at most.
type Worked struct {
	Two  bool       `json:"two"`
	Long [2]float64 `json:"long"`
}

// Reason is one cause of the end of a term, or of the time after it.
type Reason struct {
	Term int         `json:"term"`         // from 0: which one ended
	Of   string      `json:"of,omitempty"` // which participant; "" if that is open
	Is   []why.Cause `json:"is"`           // one of these
}

// twoCauses is the directory of the incidents with a truth.
var twoCauses = filepath.Join("testdata", "two")

// ReadTruth reads the truth of an incident.
func ReadTruth(dir string) (t Truth, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("%s: %w", filepath.Join(dir, "truth.json"), err)
	}
	return t, nil
}

// instant parses a time of a truth.
func instant(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) }
