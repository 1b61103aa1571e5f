package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Header is a log's first line.
type Header struct {
	Format  string            `json:"format"`
	Version int               `json:"version"`
	Library string            `json:"library"`
	Go      string            `json:"go"`
	Options map[string]string `json:"options,omitempty"`
	Start   string            `json:"start"`          // RFC 3339, for people
	StartAt int64             `json:"startAt,string"` // the loop's clock at that moment

	Run     string `json:"run,omitempty"`     // 32 hex digits: the same in all segments of one client's log
	Segment int    `json:"segment,omitempty"` // from 1; 0 for a log in one piece
	After   string `json:"after,omitempty"`   // the checksum at the end of the segment before, if that has an end
	Before  uint64 `json:"before,omitempty"`  // seq of the last record before this segment
	Name    string `json:"name,omitempty"`    // the client's
	Dump    string `json:"dump,omitempty"`    // why the last records in memory were written, if this is all of them

	Host           string   `json:"host,omitempty"`
	Boot           string   `json:"boot,omitempty"` // the kernel's id of this boot
	PID            int      `json:"pid,omitempty"`
	Program        string   `json:"program,omitempty"` // the main package's path
	ProgramVersion string   `json:"programVersion,omitempty"`
	Servers        []string `json:"servers,omitempty"`
	AskedTimeout   int64    `json:"askedTimeout,string,omitempty"`   // of sessions, nanoseconds
	GrantedTimeout int64    `json:"grantedTimeout,string,omitempty"` // zero if no server has granted one so far
	Clock          string   `json:"clock,omitempty"`                 // the loop's: "boottime" or "monotonic"
}

// headerFields has the names in a header's line.
var headerFields = func() map[string]bool {
	all := map[string]bool{}
	t := reflect.TypeFor[Header]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all[name] = true
	}
	return all
}()

// headerVersion returns the format and the version that a first line says, whatever else
// stands in it.
func headerVersion(line []byte) (format string, version int64, err error) {
	t := text{b: line}
	t.object(func(key string) {
		switch {
		case key == "format" && t.next() == '"':
			format = t.string()
		case key == "version" && t.next() != '"':
			version = t.int64()
		default:
			t.raw()
		}
	})
	return format, version, t.err
}

// readHeader reads a header without its checksum. It returns the fields that
// it does not know.
func readHeader(line []byte, h *Header) (unknown []string, err error) {
	t := text{b: line}
	var kept bytes.Buffer
	t.object(func(key string) {
		raw := t.raw()
		if !headerFields[key] {
			unknown = append(unknown, "header."+key)
			return
		}
		fmt.Fprintf(&kept, ",%q:%s", key, raw)
	})
	t.end()
	if t.err != nil {
		return nil, t.err
	}
	b := append(kept.Bytes(), '}')
	if len(b) > 1 {
		b[0] = '{'
	}
	return unknown, json.Unmarshal(b, h)
}
