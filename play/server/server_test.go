package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/page/live"
	"github.com/incumbent-go/incumbent/play"
)

func askWorld(t *testing.T, h http.Handler, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/"+token+"/ask", strings.NewReader(body))
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
