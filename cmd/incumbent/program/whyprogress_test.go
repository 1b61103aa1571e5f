package program

import (
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A run of a second says nothing of how far it is; a longer one does so after 2, 6 and 14 s.
func TestProgressIsSaidAfterAWhile(t *testing.T) {
	for ran, want := range map[time.Duration][]string{
		time.Second:      nil,
		3 * time.Second:  {"reading: 7 records so far"},
		15 * time.Second: {"reading: 7 records so far", "explaining 9 records", "explaining 9 records"},
	} {
		virtual.Test(t, func(t *testing.T) {
			var said []string
			p := &progress{}
			p.records.Store(7)
			end := p.begin(func(text string) { said = append(said, text) })
			virtual.Sleep(min(ran, 3*time.Second))
			p.records.Store(9)
			p.ended.Store(true)
			virtual.Sleep(ran - min(ran, 3*time.Second))
			end()
			if !slices.Equal(said, want) {
				t.Errorf("after %s it said %q, want %q", ran, said, want)
			}
		})
	}
}
