//go:build unix

package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

const recordedIncidents = "../../test/servers/incidents/testdata"

// packed finds the data in a page: they are compressed.
var packed = regexp.MustCompile(`>(H4sI[A-Za-z0-9+/=]+)<`)

// With --redact no output of any recorded incident has a name that the logs have: of a participant, a path, a host, a
// server, a file, or within an error's text. Each output is searched, the page unpacked.
func TestWhyHidesNamesInEveryOutput(t *testing.T) {
	dirs, err := filepath.Glob(recordedIncidents + "/*/txnlog")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no recorded incidents", err)
	}
	for _, txnlog := range selection.Some(t, "incidents", 4, 8, dirs) {
		dir := filepath.Dir(txnlog)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			names := namesIn(t, dir)
			page, trace := filepath.Join(t.TempDir(), "page.html"), filepath.Join(t.TempDir(), "trace.json")
			outputs := map[string]string{}
			for _, form := range []string{"--full", "--facts", "--json"} {
				p := start(t, nil, "why", dir, "--redact", "--txnlog", txnlog, form, "--html", page, "--trace", trace)
				p.Wait()
				outputs[form] = p.Out.String()
			}
			outputs["--html"], outputs["--trace"] = dataOf(t, page), contents(t, trace)
			for what, text := range outputs {
				if len(text) < 100 {
					t.Errorf("%s is %q", what, text)
				}
				if found := names.FindString(text); found != "" {
					at := strings.Index(text, found)
					t.Errorf("%q is in %s: …%s…", found, what, text[max(0, at-60):min(len(text), at+60)])
				}
			}
		})
	}
}

// namesIn finds what the logs of a folder name: their files, hosts and servers, the participants and paths of all
// incidents, and how Go's errors of connections begin.
func namesIn(t *testing.T, dir string) *regexp.Regexp {
	files, err := filepath.Glob(filepath.Join(dir, "*.log.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	names := []string{regexp.QuoteMeta(dir), `alice`, `bob`, `carol`, `nightly`, `\bjobs\b`, `127\.0\.0\.1`,
		`read tcp`, `write tcp`, `dial tcp`}
	for _, file := range files {
		var header struct {
			Host    string
			Servers []string
		}
		line, _, _ := bytes.Cut(inflate(t, []byte(contents(t, file))), []byte("\n"))
		if err := json.Unmarshal(line, &header); err != nil {
			t.Fatal(file, err)
		}
		if header.Host != "" {
			names = append(names, `\b`+regexp.QuoteMeta(header.Host)+`\b`)
		}
		for _, server := range header.Servers {
			names = append(names, regexp.QuoteMeta(server))
		}
	}
	return regexp.MustCompile(strings.Join(names, "|"))
}

func inflate(t *testing.T, b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		b, err = io.ReadAll(z)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// dataOf returns the data in a page: the rest of it is the same for all.
func dataOf(t *testing.T, page string) (text string) {
	for _, found := range packed.FindAllStringSubmatch(contents(t, page), -1) {
		zipped, err := base64.StdEncoding.DecodeString(found[1])
		if err != nil {
			t.Fatal(err)
		}
		text += string(inflate(t, zipped))
	}
	return text
}

func contents(t *testing.T, file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
