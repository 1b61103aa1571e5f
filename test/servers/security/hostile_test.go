package security

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/tape"
)

// hostile are ids that somebody may choose to hurt those who read them.
var hostile = []string{
	"\x1b]0;owned\a\x1b[2J\x1b[31mred\x1b[0m",
	"<script>alert(1)</script>&amp;<!--",
	"two\nlines\r\n  1  latch  somebody else",
	"right to left \u202e and a mark \u200f, nul \x00, delete \x7f, C1 \u009b31m",
	"not UTF-8 \xff\xfe\xc3\x28",
	strings.Repeat("long \x1b[31m", 100<<10/9),
	"",
}

// The library returns foreign ids as they are, byte for byte, and writes its own output
// so that it harms neither a terminal nor a page nor a parser.
func TestHostileIDs(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		c := connected(t, p)
		for _, id := range hostile {
			l, err := c.Latch(p.line(), incumbent.LatchOptions{ID: id})
			ok(t, err)
			ok(t, l.Start())
			c.untilMembers(p, l)
		}
		foreign := "\u202e<b>latch-000000009" // a name may contain it; ids do not come from names
		_, err := p.operator.Create(p.line()+"/"+foreign, []byte(hostile[0]), 0, zk.WorldACL(zk.PermAll))
		ok(t, err)
		line, err := c.Line(c.ctx, p.line())
		ok(t, err)
		if len(line.Participants) != len(hostile) || line.Foreign != 1 {
			t.Fatalf("%d participants, %d foreign", len(line.Participants), line.Foreign)
		}
		for i, member := range line.Participants {
			if member.ID != hostile[i] {
				t.Errorf("%.80q came back as %.80q", hostile[i], member.ID)
			}
		}
		for change, err := range c.Watch(c.ctx, p.line()) {
			if err != nil || change.First.ID != hostile[0] {
				t.Errorf("watched: %+v, %v", change, err)
			}
			break
		}
		t.Run("status", func(t *testing.T) { status(t, p) })
		ok(t, c.Close(c.ctx)) // the flight recorder's end is written then
		harmless(t, "the log", c.log.String())
		harmless(t, "the flight recorder", string(c.tape.Bytes()))
	})
}

// untilMembers waits until a latch is in the line: they join one after another.
func (c *client) untilMembers(p place, l *incumbent.Latch) {
	c.t.Helper()
	for {
		names, _, changed, err := p.operator.ChildrenW(p.line())
		if err == nil {
			for _, name := range names {
				data, _, err := p.operator.Get(p.line() + "/" + name)
				if err == nil && string(data) == l.ID() {
					return
				}
			}
		} else {
			var there bool
			there, _, changed, err = p.operator.ExistsW(p.line())
			ok(c.t, err)
			if there {
				continue
			}
		}
		<-changed
	}
}

// harmless is text of one JSON object to a line, without anything that a
// terminal obeys.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s is empty", what)
	}
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%s has a broken line: %.120q", what, line)
		}
	}
	obeyed(t, what, text)
}

// obeyed has characters that a terminal executes.
func obeyed(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is not UTF-8", what)
	}
	for i, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("%s holds %U: …%.60q", what, r, text[max(0, i-20):])
			return
		}
	}
}

// status has incumbent show the same line, to a person and to a program.
func status(t *testing.T, p place) {
	binary := filepath.Join(t.TempDir(), "incumbent")
	out, err := exec.Command("go", "build", "-o", binary, "../../../cmd/incumbent").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	defer cancel()
	run := func(args ...string) string {
		out, err := exec.CommandContext(ctx, binary,
			append([]string{"status", p.line(), "--servers", p.addr}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%.2000s", err, out)
		}
		return string(out)
	}
	shown := run()
	obeyed(t, "status", shown)
	if lines := strings.Count(shown, "\n"); lines != 2*len(hostile)+4 { // ids are long: two lines each
		t.Errorf("%d lines:\n%.4000s", lines, shown)
	}
	if len(shown) > 8<<10 {
		t.Errorf("%d bytes for %d participants", len(shown), len(hostile))
	}
	harmless(t, "status --json", run("--json"))
}
