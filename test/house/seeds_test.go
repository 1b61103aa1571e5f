package house

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// randomNames are the files of tests that draw from crypto/rand, and what for: no other choice of a test is fresh.
var randomNames = map[string]string{
	"test/door/certificate_test.go":   "the keys of certificates",
	"test/kit/realzk/shared.go":       "a path on a server that other runs use, too",
	"test/servers/doctor/tls_test.go": "keys",
	"test/servers/story/run.go":       "a path on a server that other runs use, too",
	"test/servers/story/deaf.go": "the seeds of clients in processes that do not know each other: " +
		"names of nodes",
	"test/servers/security/tls_test.go":  "keys",
	"test/servers/security/x509_test.go": "keys",
	"zkio/hosts_test.go":                 "keys",
	"zkio/zkmem/tls_test.go":             "keys",
	"zkio/zkmem/x509_test.go":            "keys",
	"cmd/incumbent/zk_tls_test.go":       "keys",
	"internal/doctor/network_test.go":    "keys",
}

var seeds = []rule{
	{
		name: "no test takes a fresh seed",
		why: "what a test finds must depend on the commit alone: a run that fails once and passes the next time says " +
			"nothing about either; " +
			"draw from rand.New(rand.NewPCG(repeat.Seed(t, 1), 0)), and let make explore try other seeds",
		finds:  freshSeeds,
		breach: breach{"x_test.go", `package incumbent; import "math/rand/v2"; var n = rand.IntN(3)`},
	},
}

// freshSeeds finds draws from the dice that the process throws for itself, and generators whose seed is a moment, a
// process or another such draw.
func freshSeeds(f *file) []finding {
	if !f.test {
		return nil
	}
	var found []finding
	if _, keys := randomNames[f.path]; !keys {
		found = importsOf(f, []string{"crypto/rand"})
	}
	return append(found, f.each(func(n ast.Node) string {
		switch name := f.called(n); {
		case name == "hash/maphash.MakeSeed", name == "hash/maphash.Comparable":
			return "draws a fresh seed by " + name
		case ofTheProcess(name):
			return "draws from the process's own dice by " + name
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || !seeding(f.called(call.Fun)) {
			return ""
		}
		for _, arg := range call.Args {
			if fresh := freshIn(f, arg); fresh != "" {
				return "seeds a generator by " + fresh
			}
		}
		return ""
	})...)
}

// ofTheProcess reports whether a function of math/rand draws without a generator of the test's.
func ofTheProcess(name string) bool {
	dot := strings.LastIndex(name, ".")
	if dot < 0 {
		return false
	}
	pkg, name := strings.TrimSuffix(name[:dot], "/v2"), name[dot+1:]
	made := strings.HasPrefix(name, "New") ||
		slices.Contains([]string{"Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}, name)
	return pkg == "math/rand" && !made
}

// seeding reports whether a function makes a generator or its source.
func seeding(name string) bool {
	return strings.HasPrefix(name, "math/rand") && strings.Contains(name[strings.LastIndex(name, ".")+1:], "New")
}

// freshIn returns what in an expression differs from run to run, "" if nothing does.
func freshIn(f *file, x ast.Expr) (fresh string) {
	ast.Inspect(x, func(n ast.Node) bool {
		name := f.called(n)
		if name == "time.Now" || name == "time.Since" || name == "os.Getpid" || name == "os.Getppid" ||
			strings.HasPrefix(name, "crypto/rand.") {
			fresh = name
		}
		return true
	})
	return fresh
}

func TestFreshSeedsAreFound(t *testing.T) {
	for body, want := range map[string]int{
		"_ = v2.Uint64()":     1,
		"_ = v2.N(time.Hour)": 1,
		"v1.Shuffle(3, nil)":  1,
		"_ = v1.New(v1.NewSource(time.Now().UnixNano()))":     2,
		"_ = v2.NewPCG(uint64(os.Getpid()), 1)":               1,
		"_ = v2.NewPCG(v2.Uint64(), 1)":                       1,
		"draw := v2.IntN; _ = draw":                           1,
		"_ = maphash.MakeSeed()":                              1,
		"_ = v2.New(v2.NewPCG(repeat.Seed(t, 1), 0)).IntN(3)": 0,
		"var d *v2.Rand; _ = d.IntN(3)":                       0,
		"_ = v1.New(v1.NewSource(1))":                         0,
		"_ = fmt.Sprint(os.Getpid(), time.Now())":             0,
	} {
		f, err := parse("x_test.go",
			"package incumbent\nimport (\n\"os\"\n\"time\"\n\"hash/maphash\"\nv1 \"math/rand\"\nv2 \"math/rand/v2\"\n"+
				")\nfunc f() { "+body+"\n}")
		if err != nil {
			t.Fatal(err)
		}
		if found := freshSeeds(f); len(found) != want {
			t.Errorf("%s: found %d, want %d", body, len(found), want)
		}
	}
	f, err := parse("x_test.go", `package incumbent; import _ "crypto/rand"`)
	if err != nil || len(freshSeeds(f)) != 1 {
		t.Errorf("crypto/rand is not found, %v", err)
	}
}
