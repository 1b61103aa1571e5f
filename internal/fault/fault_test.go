package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/events"
)

var (
	errOne = errors.New("incumbent: one")
	errTwo = errors.New("incumbent: two")
)

// Several errors are one text, and each of them for errors.Is.
func TestSeveralErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
		is   []error
	}{
		{Together(), "<nil>", nil},
		{Together(nil, nil), "<nil>", nil},
		{Together(nil, errOne), "incumbent: one", []error{errOne}},
		{Together(errOne, nil, errTwo), "incumbent: one; incumbent: two", []error{errOne, errTwo}},
		{Joined(errOne), "incumbent: one", []error{errOne}},
		{Joined(errOne, errTwo, errors.New("three")), "incumbent: one: two: three", []error{errOne, errTwo}},
		{Because("why", errOne, errTwo), "why", []error{errOne, errTwo}},
		{Shown(errOne), "incumbent: one", []error{errOne}},
	} {
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		for _, cause := range c.is {
			if !errors.Is(c.err, cause) {
				t.Errorf("%v is not %v", c.err, cause)
			}
		}
	}
	if Together(nil, errOne) != errOne {
		t.Error("a single error is another one")
	}
	all := []error{nil, errOne, errTwo}
	if _ = Together(all...); all[0] != nil || all[1] != errOne {
		t.Error("the errors were moved")
	}
}

// What others wrote is printable, and as long as it may be.
func TestTextsOfOthers(t *testing.T) {
	long := strings.Repeat("x", 3*events.MaxText) + "\n\x1b[31m"
	for name, text := range map[string]string{
		"shown": Shown(errors.New(long)).Error(), "worded": Because(long).Error(),
		"joined": Joined(errors.New(long), errOne).Error(),
		"closed": Closed(errors.New(long), "/a", nil, nil).Error(),
	} {
		if n := len(text); n < MaxText || n > MaxText+16 || strings.ContainsAny(text, "\n\x1b") {
			t.Errorf("%s: %d bytes, want about %d: %.40q", name, n, MaxText, text)
		}
	}
	if got := Path("/a\nb") + Quoted("a\"b"); strings.Contains(got, "\n") || !strings.HasSuffix(got, `"a\"b"`) {
		t.Errorf("%q", got)
	}
	for got, want := range map[string]string{
		Path(long): events.Foreign(long, events.MaxPath), Quoted(long): events.Quote(long, events.MaxPath),
		listText([]Entry{{1, long, "x"}}): events.Foreign(long+":x", events.MaxText) + ":r",
	} {
		if got != want {
			t.Errorf("%d bytes, want %d: %.40q", len(got), len(want), got)
		}
	}
}

// A refusal names the access list as --acl takes it, without what shows a password, and is short.
func TestClosed(t *testing.T) {
	list := []Entry{{31, "world", "anyone"}, {1, "digest", "ann:secret="}, {6, "ip", "10.0.0.1"},
		{24, "x509", "CN=é"}, {0, "sasl", "bob"}}
	err := Closed(errOne, "/jobs", list, nil)
	want := "incumbent: one: the access list of /jobs does not admit this client for this, it has " +
		"world:anyone:rwcda, digest:ann:…:r, ip:10.0.0.1:wc, x509:CN=é:da, sasl:bob:; an operator has to change it"
	if !errors.Is(err, errOne) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	err = Closed(errOne, "/jobs", list, errTwo)
	if !strings.Contains(err.Error(), "of /jobs, which may not be read,") || strings.Contains(err.Error(), "ann") {
		t.Error(err)
	}
}

func TestLongAccessLists(t *testing.T) {
	var list []Entry
	for n := 1; n <= maxEntries+2; n++ {
		list = append(list, Entry{1, "ip", fmt.Sprint(n)})
		got := listText(list)
		if shown := strings.Count(got, "ip:"); shown != min(n, maxEntries) ||
			strings.HasSuffix(got, fmt.Sprintf(", and %d more", n-shown)) != (n > shown) {
			t.Errorf("of %d entries: %s", n, got)
		}
	}
	for n, cut := range map[int]bool{maxEntry: false, maxEntry + 1: true} {
		got := listText([]Entry{{1, "ip", strings.Repeat("x", n)}})
		if strings.Count(got, "x") != maxEntry || strings.Contains(got, "…") != cut {
			t.Errorf("an entry of %d bytes: %s", n, got)
		}
	}
	if got := listText([]Entry{{1, "ip", strings.Repeat("é", maxEntry)[1:]}}); !utf8.ValidString(got) ||
		strings.Count(got, "é") != maxEntry/2-1 {
		t.Errorf("it is cut in a character: %s", got)
	}
}

// Each server's failure is said, and of which none is known.
func TestOfEach(t *testing.T) {
	servers := []string{"a:1", "b:1", "ab:1"}
	for want, failures := range map[string][]string{
		"a:1: gone; b:1: no answer is known yet; ab:1: no answer is known yet": {"a:1: gone"},
		"b:1: x; a:1: y; ab:1: z": {"b:1: x", "", "a:1: y", "ab:1: z"},
		"all; a:1: no answer is known yet; b:1: no answer is known yet; ab:1: no answer is known yet": {"all"},
	} {
		if got := OfEach(servers, failures); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := OfEach(nil, nil); got != "" {
		t.Error(got)
	}
}
