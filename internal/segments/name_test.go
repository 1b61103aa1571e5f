package segments

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// What a name is, in a form that is easier to read than the code that does without package regexp.
var (
	form   = regexp.MustCompile(`^(\d{8}T\d{6}\.\d+Z-.+-\d+)-(\d{6,})(\.jsonl|\.jsonl\.gz)(\.part)?$`)
	unsafe = regexp.MustCompile(`[^A-Za-z0-9._]+`)
)

func TestANameIsReadAsTheFormSays(t *testing.T) {
	const good = "20261130T065312.123456Z-host.example-42-000007.jsonl"
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", good, good + ".gz", good + ".part", good + ".gz.part", good + ".part.gz", good + ".part.part"}
	for range 20_000 {
		b := []byte(texts[1+random.IntN(4)])
		for range 1 + random.IntN(3) {
			at := random.IntN(len(b))
			part := []byte("0-.TZ\nxé")
			switch random.IntN(3) {
			case 0:
				b[at] = part[random.IntN(len(part))]
			case 1:
				b = append(b[:at], b[at+1:]...)
			case 2:
				b = append(b[:at], append([]byte{part[random.IntN(len(part))]}, b[at:]...)...)
			}
		}
		texts = append(texts, string(b))
	}
	names := 0
	for _, text := range texts {
		got, ok := parse(text)
		m := form.FindStringSubmatch(text)
		if ok != (m != nil) || ok && got != (name{m[1], m[2], m[3], m[4]}) {
			t.Fatalf("%q: got %q, %t, and the form says %q", text, got, ok, m)
		}
		if ok {
			names++
		}
		if got, want := safe(text), unsafe.ReplaceAllString(text, "_"); got != want {
			t.Fatalf("%q: a host is %q, want %q", text, got, want)
		}
	}
	if names < 1000 || names > len(texts)-1000 {
		t.Errorf("%d of %d texts are names: the other kind is too rare", names, len(texts))
	}
	if strings.Contains(safe("a/b\\c é"), "/") {
		t.Error("a slash stays")
	}
}
