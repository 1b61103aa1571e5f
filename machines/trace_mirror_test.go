package machines

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// originals are the recipes whose conversations are played by others, too.
var originals = map[string]string{"selector": "latch", "election": "latch", "readwrite": "mutex"}

// mirror plays a latch's conversation, marked "# also selector", with a selector,
// one marked "# also election" with a candidate, and a mutex's, marked "# also
// readwrite", with a writer: what they share has to be the same word for word.
func mirror(t *testing.T, path string, fired *coverage) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for recipe, translated := range map[string]func(string) string{
		"selector": strings.NewReplacer("latch-0", "lock-0", "latch--", "lock--", "-latch-", "-lock-",
			"latch", "selector").Replace,
		"election": asElection,
		"readwrite": strings.NewReplacer("lock-0", "__WRIT__0", "lock--", "__WRIT__-", "lock-2147", "__WRIT__2147",
			"-lock-", "-__WRIT__", "mutex", "readwrite").Replace,
	} {
		if !strings.Contains(string(b), "\n# also "+recipe+"\n") {
			continue
		}
		path := filepath.Join(t.TempDir(), recipe)
		if err := os.WriteFile(path, []byte(translated(string(b))), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newConversation(t, fired)
		c.mirrors = recipe
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return compared(d, c.say(t, d))
		})
		c.replays(t)
	}
}

// asElection takes the GUIDs out of the names.
func asElection(latch string) string {
	latch = regexp.MustCompile(`_c_<latch[^>]*>-latch-`).ReplaceAllString(latch, "n_")
	return strings.NewReplacer("latch-0", "n_0", "latch--", "n_-", "latch-2147", "n_2147",
		"latch", "election").Replace(latch)
}
