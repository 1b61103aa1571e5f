package play

import "testing"

// BenchmarkAsk asks for a new world of half a minute; BenchmarkGoOn for another second of one of two minutes.
func BenchmarkAsk(b *testing.B) {
	for b.Loop() {
		if _, ok := new(Host).AskJSON([]byte(`{"link":"1;latch;usual;3;7~8.5:freeze:alice:9@30"}`)); !ok {
			b.Fatal("no answer")
		}
	}
}

func BenchmarkGoOn(b *testing.B) {
	h := new(Host)
	until := int64(120_000_000)
	for b.Loop() {
		if _, err := h.Ask(Request{Link: "1;latch;usual;3;7~8.5:freeze:alice:9", Until: &until,
			Charts: []string{"latch", "session"}}); err != nil {
			b.Fatal(err)
		}
	}
}
