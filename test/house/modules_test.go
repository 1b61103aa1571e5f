package house

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// nestedModules returns the folders below the root that have a go.mod: modules of their own,
// whose dependencies nobody else has.
func nestedModules() ([]string, error) {
	var dirs []string
	err := walk(func(path_, _ string) error {
		if dir := path.Dir(path_); path.Base(path_) == "go.mod" && dir != "." {
			dirs = append(dirs, dir)
		}
		return nil
	})
	return dirs, err
}

// standard are the packages of the standard library that the library may import. What
// else there is, net/http, os/exec, testing or flag, has no business in a program that
// only embeds it.
var standard = strings.Fields(`bufio bytes cmp container/heap container/list context
	crypto/rand crypto/sha256 crypto/tls crypto/x509 encoding/binary encoding/hex encoding/json
	errors fmt io iter maps math math/rand/v2 net os reflect runtime runtime/debug runtime/pprof
	slices sort strconv strings sync sync/atomic time unicode unicode/utf16 unicode/utf8`)

// standardHere are those that one room, or one file, may import besides.
var standardHere = map[string][]string{
	// a server, in tests only
	"zkio/zkmem":          {"crypto/hmac", "crypto/sha1", "encoding/asn1", "encoding/base64", "net/netip", "syscall"},
	"internal/digestmd5":  {"crypto/md5", "crypto/subtle"},
	"slogger":             {"log/slog"},
	"internal/why/txnlog": {"hash/adler32"}, // the servers' checksum
	"health":              {"net/http", "net/http/httputil", "net/url"},
	"internal/doctor":     {"net/http", "path", "regexp"},
	"internal/drawing":    {"html"},
	// its modules, put into one file
	"internal/page":        {"compress/gzip", "embed", "encoding/base64", "io/fs", "path", "regexp"},
	"internal/page/live":   {"crypto/subtle", "net/http", "net/netip", "net/url", "path/filepath", "regexp"},
	"internal/play":        {"hash/fnv"},
	"metrics":              {"hash/fnv"},
	"internal/play/web":    {"embed", "io/fs"}, // as page
	"internal/play/server": {"mime", "net/http"},

	"events":             {"encoding/base64", "hash/crc32"},                                // the flight log's lines
	"internal/segments":  {"compress/gzip", "io/fs", "path/filepath", "regexp", "syscall"}, // its files
	"internal/plaindata": {"encoding/base64"},                                              // encoding/json links it

	"internal/plaindata/opened.go": {"unsafe"}, // sets the fields of models that are restored
}

var modules = []rule{
	{
		name: "the library imports little of the standard library",
		why: "a program links what it embeds: net/http in the root is in every worker; slogger and health are " +
			"packages of their own for that",
		finds: func(f *file) []finding {
			if !library(f) {
				return nil
			}
			return f.imports(func(p string) string {
				first, _, _ := strings.Cut(p, "/")
				if p == "C" || strings.Contains(first, ".") || slices.Contains(standard, p) ||
					slices.Contains(standardHere[f.dir], p) || slices.Contains(standardHere[f.path], p) {
					return ""
				}
				return p + " may not be imported here"
			})
		},
		breach: breach{"retry.go", `package incumbent; import _ "net/http"`},
	},
}

// Rooms that have no files yet have their guests: a file is put there, and the rules
// find in it what they have to.
func TestRoomsHaveTheirGuests(t *testing.T) {
	const stranger, guest, arrow, std = "no stranger in the library", "guests stay in their room",
		"arrows point one way", "the library imports little of the standard library"
	for _, planted := range []struct {
		path, imports string
		nested        bool
		want          []string
	}{
		{"slogger/x.go", "log/slog github.com/rs/zerolog", false, nil},
		{"slogger/x.go", "net/http", false, []string{std}},
		{"slogger/x.go", module, false, []string{arrow}},
		{"leadership.go", module + "/slogger", false, []string{arrow}},
		{"health/x.go", "net/http encoding/json " + module, false, nil},
		{"health/x.go", "log/slog", false, []string{std}},
		{"health/x.go", "github.com/rs/zerolog", false, []string{guest}},
		{"internal/world/x.go", module + "/machines " + module + "/zkio/zkmem", false, nil},
		{"internal/world/x.go", module + "/zkio " + module, false, []string{arrow}},
		{"internal/world/x.go", "net/http", false, []string{std}},
		{"leadership.go", "net/http", false, []string{std}},
		{"leadership.go", "log/slog", false, []string{std}},
		{"zkio/x.go", "os/exec", false, []string{std}},
		{"internal/plaindata/opened.go", "unsafe", false, nil},
		{"engine/x.go", "unsafe", false, []string{std}},
		{"zkio/zkmem/x.go", "testing", false, []string{std}},
		{"leadership.go", module + "/health", false, []string{arrow}},
		{"integrations/prometheus/x.go",
			"github.com/prometheus/client_golang net/http github.com/go-zookeeper/zk " + module, true, nil},
		{"integrations/prometheus/x.go", module + "/machines", true, []string{arrow}},
		// without a go.mod
		{"integrations/prometheus/x.go", "github.com/prometheus/client_golang", false, []string{stranger}},
		{"bench/x.go", "go.etcd.io/etcd/client/v3 github.com/go-zookeeper/zk", true, nil},
		{"test/servers/browser/x.go", "github.com/chromedp/chromedp", true, nil},
		{"docs/examples/new/x.go", "example.com/any", true, nil},
		{"recipes/x.go", "", false, []string{"every Go folder is a room"}},
	} {
		text := "package x\n"
		for _, p := range strings.Fields(planted.imports) {
			text += "import _ \"" + p + "\"\n"
		}
		f, err := parse(planted.path, text)
		if err != nil {
			t.Fatal(err)
		}
		f.nested = planted.nested
		var broken []string
		for _, r := range slices.Concat(arrows, modules) {
			if len(r.finds(f)) > 0 {
				broken = append(broken, r.name)
			}
		}
		if !slices.Equal(broken, planted.want) {
			t.Errorf("%s with %q, nested %v, breaks %q, want %q", planted.path, planted.imports, planted.nested,
				broken, planted.want)
		}
	}
}
