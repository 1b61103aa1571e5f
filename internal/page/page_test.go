package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/test/servers/incidents"
)

// of returns the document of a recorded incident.
func of(t *testing.T, name string, detail Detail) *Document {
	t.Helper()
	var rows []*Rows
	logs, txns, err := incidents.ReadThrough(filepath.Join("..", "..", "test", "servers", "incidents", "testdata",
		name), func(h events.Header, r why.Reader) why.Reader {
		rows = append(rows, Keep(h, r, detail))
		return rows[len(rows)-1]
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(why.Explain(logs, txns, why.Options{}), rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func html(t *testing.T, d *Document, use Use) string {
	t.Helper()
	b, err := HTML(d, use)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var parts = regexp.MustCompile(`(?s)<style>(.*?)</style>.*<script type="text/plain" ` +
	`id="data">(.*?)</script>\n<script ` +
	`type="module">(.*?)</script>`)

func TestThePolicyAllowsTheScriptAndTheStyleOnly(t *testing.T) {
	d := of(t, "killed", Whole)
	page := html(t, d, File)
	got := parts.FindStringSubmatch(page)
	policy := Policy(got[3], got[1], File)
	if !strings.Contains(page, `content="`+policy+`"`) || !strings.HasPrefix(policy, "default-src 'none';") ||
		strings.Contains(policy, "connect-src") {
		t.Errorf("%s\n%s", policy, page[:600])
	}
	if live := html(t, d, Live); !strings.Contains(live, "connect-src 'self'") ||
		!strings.Contains(live, `name="live" content="events"`) {
		t.Error(live[:600])
	}
	if strings.Contains(page, "{{") || regexp.MustCompile(`(?i)(src|href)=|url\(['"]?[^#]`).MatchString(page) {
		t.Error("the page names something outside of it, or was not filled in")
	}
	again := html(t, of(t, "killed", Whole), File)
	if again != page {
		t.Error("the same logs give another page")
	}
}

// The sizes that are promised: the page without data, and with the incidents' logs.
func TestSizes(t *testing.T) {
	s, err := newShell()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.page(Policy(s.script, s.style, File), "", File)); n > 96<<10 {
		t.Errorf("the page without data has %d bytes, want 96 KiB at most", n)
	} else {
		t.Logf("without data: %d bytes", n)
	}
	for _, i := range incidents.All() {
		if n := len(html(t, of(t, i.Name, Whole), File)); n > 300<<10 {
			t.Errorf("%s: %d bytes, want 300 KiB at most", i.Name, n)
		}
	}
}

// unpack returns the data in a page.
func unpack(t *testing.T, page string) (d Document) {
	t.Helper()
	zipped, err := base64.StdEncoding.DecodeString(parts.FindStringSubmatch(page)[2])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err == nil {
		err = json.NewDecoder(z).Decode(&d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Every record of every log is in the page, and each sentence names records that are there.
func TestEveryRecordIsThere(t *testing.T) {
	for _, i := range incidents.All() {
		d := unpack(t, html(t, of(t, i.Name, Whole), File))
		there := map[why.Ref]bool{}
		for n, l := range d.Logs {
			if l.Name != d.Picture.Logs[n].Name {
				t.Fatalf("%s: log %d is %s, and its rows are of %s", i.Name, n, d.Picture.Logs[n].Name, l.Name)
			}
			seq := int64(0)
			for at := 0; at < len(l.Rows); at += rowLength {
				seq += l.Rows[at]
				there[why.Ref{Log: l.Name, Seq: uint64(seq)}] = true
			}
		}
		var refs []why.Ref
		for _, m := range d.Picture.Moves {
			refs = append(refs, m.At)
			for _, s := range m.Story {
				refs = append(refs, s.Records...)
			}
		}
		for _, l := range d.Picture.Links {
			for _, e := range []why.PictureEnd{l.Cause, l.Effect} {
				if e.Zxid == "" {
					refs = append(refs, why.Ref{Log: e.Log, Seq: e.Seq})
				}
			}
		}
		for _, r := range refs {
			if !there[r] && i.Name != "hung-writer" { // its gap names the records that are missing
				t.Errorf("%s: there is no record %s", i.Name, r)
			}
		}
		if len(d.Picture.Links) == 0 || len(d.Picture.Txns) == 0 || len(d.Charts) < 2 {
			t.Errorf("%s: %d links, %d transactions, %d charts", i.Name, len(d.Picture.Links),
				len(d.Picture.Txns), len(d.Charts))
		}
	}
}

func TestUnnamedRecordsHaveNoNames(t *testing.T) {
	d := of(t, "paused", Unnamed)
	b, err := json.Marshal(d.Strings)
	if err != nil || bytes.Contains(b, []byte("/jobs")) || bytes.Contains(b, []byte("127.0.0.1")) {
		t.Errorf("%v\n%s", err, b)
	}
	if b, err = json.Marshal(of(t, "paused", Whole).Strings); err != nil || !bytes.Contains(b, []byte("/jobs")) {
		t.Errorf("%v\n%s", err, b)
	}
}

// A chart whose picture is drawn has no style of its own: the policy would refuse it.
func TestChartsHaveNoStyle(t *testing.T) {
	for name, svg := range of(t, "paused", Whole).Charts {
		if strings.Contains(svg, "style") || !strings.Contains(svg, `data-state="`) {
			t.Errorf("%s: %.400s", name, svg)
		}
	}
}

func TestADocumentNeedsTheRowsOfEachLog(t *testing.T) {
	logs, txns, err := incidents.Read(filepath.Join("..", "..", "test", "servers", "incidents", "testdata", "killed"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(why.Explain(logs, txns, why.Options{}), nil, nil); err == nil ||
		!strings.Contains(err.Error(), "page.Keep") {
		t.Error(err)
	}
}

// The data of a page are in ASCII, and mean the same.
func TestJSONIsASCII(t *testing.T) {
	d := &Document{Strings: []string{"alice → bob", "é\u2028", "𝄞 clef", `a "quote" \`, ""}}
	b, err := d.JSON()
	if err != nil || bytes.ContainsFunc(b, func(r rune) bool { return r > 126 || r < ' ' }) {
		t.Errorf("%v\n%q", err, b)
	}
	var again Document
	if err := json.Unmarshal(b, &again); err != nil || !slices.Equal(again.Strings, d.Strings) {
		t.Errorf("%v: %q, want %q", err, again.Strings, d.Strings)
	}
}

// What is written a part at a time is what the encoder of the whole writes.
func TestADocumentIsWrittenInParts(t *testing.T) {
	whole := of(t, "paused", Whole)
	named := *whole
	named.Dir = "/var/log/é"
	for _, d := range []*Document{whole, &named,
		{Charts: map[string]string{}, Strings: []string{}, Logs: []LogRows{}}} {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := writeASCII(&want, data); err != nil {
			t.Fatal(err)
		}
		if got, err := d.JSON(); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%d bytes, want %d: %v", len(got), want.Len(), err)
		}
	}
}
