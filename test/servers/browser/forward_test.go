package browser

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// askPage asks the leader who it is until it answers, and shows what it streams, as it comes.
const askPage = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<p id="who"></p><p id="stream"></p><script>
async function ask() {
	for (;;) {
		const r = await fetch('/job/who')
		if (r.ok) { who.textContent = await r.text(); return }
		if (r.status !== 503 || r.headers.get('Retry-After') === null) {
			who.textContent = 'status ' + r.status; return
		}
		await new Promise(again => setTimeout(again, 20))
	}
}
async function listen() {
	stream.textContent = ''
	const reader = (await fetch('/job/stream')).body.pipeThrough(new TextDecoderStream()).getReader()
	for (;;) {
		const {value, done} = await reader.read()
		if (done) { stream.textContent += '.'; return }
		stream.textContent += value
	}
}
</script>`

// forwarding is a process of a service of which one leads.
type forwarding struct {
	latch *incumbent.Latch
	url   string
	goOn  chan struct{} // each lets a stream go on
}

func newForwarding(t *testing.T, servers, name string) *forwarding {
	t.Helper()
	c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarding{url: "http://" + l.Addr().String(), goOn: make(chan struct{})}
	f.latch, err = c.Latch("/jobs/page", incumbent.LatchOptions{ID: name, Advertise: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	own := http.NewServeMux()
	own.HandleFunc("/job/who", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) })
	own.HandleFunc("/job/stream", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, name, " one")
		w.(http.Flusher).Flush()
		select {
		case <-f.goOn:
			fmt.Fprint(w, " two")
		case <-r.Context().Done():
		}
	})
	follower, err := health.FollowAdvertised(c, "/jobs/page", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(follower.Close)
	leads, err := health.ForwardToLeader(f.latch, health.ForwardOptions{Target: follower.Target}, own)
	if err != nil {
		t.Fatal(err)
	}
	all := http.NewServeMux()
	all.Handle("/job/", leads)
	all.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, askPage) })
	server := &http.Server{Handler: all}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	if err := f.latch.Start(); err != nil {
		t.Fatal(err)
	}
	return f
}

// A page that a process serves which does not lead has the answers of the one that does, streams as they come, and
// those of the next leader after it has gone.
func TestAPageHasTheLeadersAnswers(t *testing.T) {
	if !shows(t) {
		return
	}
	servers := zkmem.Start(t).Addr()
	first := newForwarding(t, servers, "a")
	term, err := first.latch.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second := newForwarding(t, servers, "b")
	p := open(t, chromium(t), second.url)
	p.does(`void ask()`)
	p.waits(`document.querySelector('#who').textContent === 'a'`)
	p.does(`void listen()`)
	p.waits(`document.querySelector('#stream').textContent === 'a one'`)
	first.goOn <- struct{}{}
	p.waits(`document.querySelector('#stream').textContent === 'a one two.'`)

	term.Release()
	if err := first.latch.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.does(`void ask()`)
	p.waits(`document.querySelector('#who').textContent === 'b'`)
	other := open(t, p.ctx, first.url) // which leads no longer, and passes on
	other.does(`void ask()`)
	other.waits(`document.querySelector('#who').textContent === 'b'`)
	other.does(`void listen()`)
	other.waits(`document.querySelector('#stream').textContent === 'b one'`)
	second.goOn <- struct{}{}
	other.waits(`document.querySelector('#stream').textContent === 'b one two.'`)
}
