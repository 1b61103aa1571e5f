package prom_test

import (
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/integrations/prom"
)

// register is the example of docs/operations.md.
func register(client *incumbent.Client) error {
	collector, err := prom.New(client, prom.Options{})
	if err != nil {
		return err
	}
	prometheus.MustRegister(collector)
	return nil
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// The lines for go.mod in docs/operations.md name this module, and its example is register, which exports a client.
func TestThePageSaysHowToRegister(t *testing.T) {
	page := text(t, "../../docs/operations.md")
	module, _, _ := strings.Cut(strings.TrimPrefix(text(t, "go.mod"), "module "), "\n")
	want := "```\nrequire " + module + " v0.0.0\nreplace " + module + " => ../incumbent/integrations/prom\n```\n"
	if !strings.Contains(page, want) {
		t.Errorf("docs/operations.md does not have %q", want)
	}
	_, rest, _ := strings.Cut(page, "\n## Metrics\n")
	_, rest, _ = strings.Cut(rest, "```go\n")
	code, _, _ := strings.Cut(rest, "```")
	body := "\t" + strings.ReplaceAll(strings.TrimSuffix(code, "\n"), "\n", "\n\t") + "\n"
	if strings.TrimSpace(code) == "" ||
		!strings.Contains(text(t, "page_test.go"), "error {\n"+body+"\treturn nil\n}\n") {
		t.Errorf("register is not the example of docs/operations.md:\n%s", code)
	}
	registry, before := prometheus.NewRegistry(), prometheus.DefaultRegisterer
	prometheus.DefaultRegisterer = registry
	defer func() { prometheus.DefaultRegisterer = before }()
	if err := register(leader(t)); err != nil {
		t.Fatal(err)
	}
	if n, err := testutil.GatherAndCount(registry, "incumbent_leading"); err != nil || n == 0 {
		t.Errorf("incumbent_leading has %d samples: %v", n, err)
	}
}
