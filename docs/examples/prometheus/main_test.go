package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/test/kit/instances"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { instances.Main(m, main) }

const line = "/jobs/prometheus"

// get returns the body of an answer, which has to be 200.
func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s is %d, %v: %s", url, resp.StatusCode, err, body)
	}
	return string(body)
}

// observed checks what an instance answers, which leads or waits.
func observed(t *testing.T, base string, leads bool) {
	t.Helper()
	for _, path := range []string{"/livez", "/readyz"} {
		get(t, base+path)
	}
	var answer health.Leader
	err := json.Unmarshal([]byte(get(t, base+"/leader")), &answer)
	if err != nil || answer.Leads != leads || answer.First == nil {
		t.Errorf("/leader is %+v, %v", answer, err)
	}
	metric := `incumbent_leading{path="` + line + `",recipe="latch"} 0`
	if leads {
		metric = strings.TrimSuffix(metric, "0") + "1"
	}
	if text := get(t, base+"/metrics"); !strings.Contains(text, metric+"\n") {
		t.Errorf("/metrics has no %s:\n%s", metric, text)
	}
}

// Leader and standby live and are ready, and say which is which, also after the leader was killed.
func TestBothAreObserved(t *testing.T) {
	srv := zkmem.Start(t)
	a := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	a.Says(t, "leading, token ")
	observed(t, "http://"+a.Says(t, "observed on "), true)
	b := instances.Start(t, srv.Addr(), "127.0.0.1:0")
	base := "http://" + b.Says(t, "observed on ")
	instances.InLine(t, srv, line, 2)
	observed(t, base, false)
	a.Kill()
	instances.ExpireFirst(t, srv, line)
	b.Says(t, "leading, token ")
	observed(t, base, true)
	b.Stop(t)
	instances.InLine(t, srv, line, 0)
}
