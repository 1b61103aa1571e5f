package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/internal/page/live"
	"github.com/incumbent-go/incumbent/internal/play"
)

func askWorld(t *testing.T, h http.Handler, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	return send(t.Context(), h, token, strings.NewReader(body))
}

func send(ctx context.Context, h http.Handler, token string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/"+token+"/ask", body)
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Several pages may ask at once: each gets the answer of its own world.
func TestSeveralPagesPlay(t *testing.T) {
	who := live.Access{Token: live.NewToken()}
	h, err := Handler(who)
	if err != nil {
		t.Fatal(err)
	}
	var pages sync.WaitGroup
	for seed := range int64(8) {
		q, err := json.Marshal(play.Request{Link: play.Random(seed).Link()})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := new(play.Host).AskJSON(q)
		pages.Go(func() {
			for range 3 {
				if w := askWorld(t, h, who.Token, string(q)); w.Code != 200 || w.Body.String() != string(want) {
					t.Errorf("seed %d: %d %.200s", seed, w.Code, w.Body)
				}
			}
		})
	}
	pages.Wait()
}

// More requests than may wait are refused, and an access that is none is not served.
func TestTooManyAsk(t *testing.T) {
	who := live.Access{Token: live.NewToken()}
	h, err := Handler(who)
	if err != nil {
		t.Fatal(err)
	}
	p := h.(*playground)
	for range maxAsking {
		p.asking <- struct{}{}
	}
	const q = `{"link":"1;latch;usual;3;7@1"}`
	if w := askWorld(t, h, who.Token, q); w.Code != 503 || !strings.Contains(w.Body.String(), "ask again") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	<-p.asking
	if w := askWorld(t, h, who.Token, q); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if _, err := Handler(live.Access{Token: "short"}); err == nil {
		t.Error("a short token is served")
	}
}

// slow is a body of which nothing comes before it is closed.
type slow struct {
	asked chan<- struct{} // gets one when the body is read
	over  <-chan struct{}
}

func (s slow) Read([]byte) (int, error) {
	s.asked <- struct{}{}
	<-s.over
	return 0, io.ErrUnexpectedEOF
}

// Requests that do not come to their end keep nobody from playing, and are refused in words.
func TestSlowRequests(t *testing.T) {
	who := live.Access{Token: live.NewToken()}
	h, err := Handler(who)
	if err != nil {
		t.Fatal(err)
	}
	asked, over := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range maxAsking {
		all.Go(func() {
			if w := send(t.Context(), h, who.Token, slow{asked, over}); w.Code != 408 ||
				!strings.Contains(w.Body.String(), "want all of it within 10s") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	for range maxAsking {
		<-asked
	}
	if w := askWorld(t, h, who.Token, `{"link":"1;latch;usual;3;7@1"}`); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(over)
	all.Wait()
}

// Nothing is played for a client that is gone.
func TestNobodyWaits(t *testing.T) {
	who := live.Access{Token: live.NewToken()}
	h, err := Handler(who)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if w := send(gone, h, who.Token, strings.NewReader(`{"link":"1;latch;usual;3;7@1"}`)); w.Body.Len() > 0 {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
}
