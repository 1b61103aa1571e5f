package embed

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// mostGrowth is by how many bytes a service on linux/amd64 may grow with its first latch.
const mostGrowth = 5_000_000

// service is a program with net/http..
const service = `package main

import (
	"log"
	"net/http"
)

func main() {
	begin()
	log.Fatal(http.ListenAndServe(":8080", nil))
}
`

// leads is a service's other file, with a latch.
const leads = `package main

import (
	"context"

	"github.com/incumbent-go/incumbent"
)

func begin() {
	ctx := context.Background()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: "localhost"})
	if err != nil {
		panic(err)
	}
	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{})
	if err != nil {
		panic(err)
	}
	go latch.Run(ctx, func(l *incumbent.Leadership) error { return l.Context().Err() })
}
`

// built builds a program of two files, and returns its path.
func built(t *testing.T, main, begin string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := embedder(t, root, main)
	if err := os.WriteFile(filepath.Join(dir, "begin.go"), []byte(begin), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "go", "build", "-o", "service.exe", ".")
	return filepath.Join(dir, "service.exe")
}

func TestTheWeightOfALatch(t *testing.T) {
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "amd64")
	size := func(program string) int64 {
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	program := built(t, service, leads)
	with := size(program)
	without := size(built(t, service, "package main\n\nfunc begin() {}\n"))
	t.Logf("a service with net/http has %d bytes, and %d more with a latch", without, with-without)
	if grown := with - without; grown > mostGrowth {
		t.Errorf("a latch adds %d bytes to a service, at most %d", grown, mostGrowth)
	}
	linksNoOthers(t, program)
}

// usedByALatch are the recipes that a client with a latch may open: its session, the latch, a search for what an
// attempt has left, and the watch of a node, for Config.FollowEnsemble.
var usedByALatch = []string{"session", "latch", "leftover", "nodewatch"}

// linksNoOthers fails if a program has the chart of a recipe that a client with a latch cannot open, or its machines.
func linksNoOthers(t *testing.T, program string) {
	t.Helper()
	const in = "github.com/incumbent-go/incumbent/machines."
	symbols := command(t, filepath.Dir(program), "go", "tool", "nm", program)
	models := map[string]bool{}
	for _, r := range machines.Recipes() {
		used := slices.Contains(usedByALatch, r.Name())
		models[r.Describe().Model] = models[r.Describe().Model] || used
		if regexp.MustCompile(`(?im) `+regexp.QuoteMeta(in+r.Name())+`chart$`).MatchString(symbols) != used {
			t.Errorf("the chart %q is linked: %t, want %t\n\twhy not: a program with one latch uses %q, and links "+
				"what Open and Latch call and what initializers of variables name", r.Name(), !used, used, usedByALatch)
		}
	}
	for model, used := range models {
		if !used && strings.Contains(symbols, in+"(*"+model+").") {
			t.Errorf("methods of %s are linked, which a program with one latch does not use", model)
		}
	}
}

// idle is a program that has a latch and does nothing, so that it ends.
const idle = `package main

import "os"

func main() {
	if len(os.Args) > 1 {
		begin()
	}
}
`

// initialized is a line of GODEBUG=inittrace=1.
var initialized = regexp.MustCompile(`(?m)^init github\.com/incumbent-go/incumbent(\S*) @.*, (\d+) bytes, \d+ allocs$`)

// mostAtStart is how many bytes this module's packages may allocate before main. One chart that is compiled takes
// 100,000 and more.
const mostAtStart = 100_000

func TestALatchCompilesNoChartBeforeItIsUsed(t *testing.T) {
	program := built(t, idle, leads)
	t.Setenv("GODEBUG", "inittrace=1")
	total, packages := 0, 0
	for _, found := range initialized.FindAllStringSubmatch(command(t, filepath.Dir(program), program), -1) {
		bytes, err := strconv.Atoi(found[2])
		if err != nil {
			t.Fatal(err)
		}
		total += bytes
		packages++
	}
	t.Logf("%d packages allocate %d bytes before main", packages, total)
	if total > mostAtStart || packages == 0 {
		t.Errorf("%d packages allocate %d bytes before main, at most %d\n\twhy not: every program that links them "+
			"waits for that", packages, total, mostAtStart)
	}
}
