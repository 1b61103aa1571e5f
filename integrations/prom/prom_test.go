package prom_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/integrations/prom"
	"github.com/incumbent-go/incumbent/metrics"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// leader returns a client with a latch that leads, a lock that is held, and a queue whose first item was consumed.
func leader(t *testing.T) *incumbent.Client {
	t.Helper()
	srv := zkmem.Start(t)
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // the first is closed: a term has ended
		l, err := c.Latch("/jobs/x", incumbent.LatchOptions{ID: "secret-id"})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
		held, err := l.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Stats().Terms) == 0 {
			held.Release()
			if err := l.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Cleanup(held.Release)
	}
	share(t, c)
	m, err := c.Mutex("/locks/of-one-user", incumbent.MutexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hold, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hold.Unlock(context.Background()); err != nil {
			t.Error(err)
		}
	})
	consume(t, c)
	return c
}

// share has the client own two shards.
func share(t *testing.T, c *incumbent.Client) {
	t.Helper()
	shards, err := c.Shards("/shared", 2, incumbent.ShardsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	owned, ended := make(chan bool, 2), make(chan error, 1)
	go func() {
		ended <- shards.Run(ctx, func(s *incumbent.Shard) error { owned <- true; <-s.Context().Done(); return nil })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-owned
	<-owned
}

func consume(t *testing.T, c *incumbent.Client) {
	t.Helper()
	q, err := incumbent.NewQueue(c, "/mail", incumbent.QueueOptions[string]{Codec: incumbent.Text()})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	consumer, err := q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error { close(done); return nil },
		incumbent.ConsumerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := consumer.Start(); err != nil {
		t.Fatal(err)
	}
	if err := q.Put(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	<-done
	if err := consumer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func collector(t *testing.T, c *incumbent.Client, o prom.Options) *prom.Collector {
	t.Helper()
	p, err := prom.New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scraped returns what a scrape over HTTP says.
func scraped(t *testing.T, reg *prometheus.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, err)
	}
	return string(text)
}

// A scrape has every family of the table, no label that grows with participants, and nothing that linters find.
func TestScrape(t *testing.T) {
	c := leader(t)
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(collector(t, c, prom.Options{Client: "one", MasterStatus: true}))
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	text := scraped(t, reg)
	for _, m := range metrics.Families() {
		if m.Name == "incumbent_tls_certificate_expiry_seconds" { // this client has no certificate
			continue
		}
		if !strings.Contains(text, "\n"+m.Name+"{") && !strings.Contains(text, "\n"+m.Name+"_bucket{") {
			t.Errorf("the scrape has no %s", m.Name)
		}
	}
	for _, want := range []string{
		`incumbent_leading{client="one",path="/jobs/x",recipe="latch"} 1`,
		`incumbent_terms_ended_total{client="one",path="/jobs/x",reason="closed",recipe="latch"} 1`,
		`incumbent_queue_deliveries_total{client="one",path="/mail",result="done"} 1`,
		`incumbent_shards_owned{client="one",path="/shared"} 2`,
		`leader_election_master_status{client="one",name="/jobs/x"} 1`, `incumbent_connected{client="one"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("the scrape does not have %s", want)
		}
	}
	for _, no := range []string{"secret-id", "of-one-user", "_c_", fmt.Sprintf("%x", c.SessionID())} {
		if strings.Contains(text, no) {
			t.Errorf("the scrape has %q", no)
		}
	}
	check := exec.Command(promtool(t), "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v %s", err, out)
	}
}

// Beyond MaxPaths, lines share one label.
func TestPathsAreCapped(t *testing.T) {
	srv := zkmem.Start(t)
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	for i := range 4 {
		l, err := c.Latch(fmt.Sprintf("/line%d", i), incumbent.LatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(collector(t, c, prom.Options{MaxPaths: 2}))
	text := scraped(t, reg)
	if n := len(regexp.MustCompile(`(?m)^incumbent_leading\{`).FindAllString(text, -1)); n != 3 ||
		!strings.Contains(text, "\nincumbent_paths_capped 1\n") {
		t.Errorf("%d paths:\n%s", n, text)
	}
}

func TestWrongOptions(t *testing.T) {
	if _, err := prom.New(nil, prom.Options{}); err == nil {
		t.Error("a nil client is accepted")
	}
	if _, err := prom.New(&incumbent.Client{}, prom.Options{MaxPaths: -1}); err == nil {
		t.Error("MaxPaths -1 is accepted")
	}
}

// promtool returns Prometheus's tool. Without it the test is skipped, or fails if everything is required.
func promtool(t *testing.T) string {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("INCUMBENT_REQUIRE") == "all" {
			t.Fatal("not run: promtool is not installed")
		}
		t.Skip("not run: promtool is not installed")
	}
	return tool
}
