package cli

import (
	"runtime"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestVersion(t *testing.T) {
	const module = "github.com/incumbent-go/incumbent"
	const revision = "0123456789abcdef0123456789abcdef01234567"
	here := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	main := debug.Module{Path: module, Version: "(devel)"}
	on := func(settings ...debug.BuildSetting) []debug.BuildSetting {
		return append([]debug.BuildSetting{{Key: "GOOS", Value: "plan9"}, {Key: "GOARCH", Value: "arm"}}, settings...)
	}
	for _, c := range []struct {
		what string
		info *debug.BuildInfo
		want string
	}{
		{"without modules", nil, "p unknown, commit unknown, " + here},
		{"nothing is said", &debug.BuildInfo{}, "p unknown, commit unknown, " + here},
		{"go run, or go build -trimpath -buildvcs=false",
			&debug.BuildInfo{GoVersion: "go1.25.1", Main: main,
				Settings: on(debug.BuildSetting{Key: "-trimpath", Value: "true"})},
			"p (devel), commit unknown, go1.25.1, plan9/arm"},
		{"go install of a release",
			&debug.BuildInfo{GoVersion: "go1.25.1", Main: debug.Module{Path: module, Version: "v1.2.3", Sum: "h1:x"},
				Settings: on()},
			"p v1.2.3, commit unknown, go1.25.1, plan9/arm"},
		{"a clean checkout",
			&debug.BuildInfo{GoVersion: "go1.25.1",
				Main: debug.Module{Path: module, Version: "v0.0.0-20260102030405-0123456789ab"},
				Settings: on(debug.BuildSetting{Key: "vcs", Value: "git"},
					debug.BuildSetting{Key: "vcs.revision", Value: revision},
					debug.BuildSetting{Key: "vcs.modified", Value: "false"})},
			"p v0.0.0-20260102030405-0123456789ab, commit 0123456789ab, go1.25.1, plan9/arm"},
		{"a changed checkout", &debug.BuildInfo{GoVersion: "go1.25.1", Main: main,
			Settings: on(debug.BuildSetting{Key: "vcs.revision", Value: revision},
				debug.BuildSetting{Key: "vcs.modified", Value: "true"})},
			"p (devel), commit 0123456789ab-dirty, go1.25.1, plan9/arm"},
		{"a short revision",
			&debug.BuildInfo{GoVersion: "go1.25.1", Main: main,
				Settings: on(debug.BuildSetting{Key: "vcs.revision", Value: "42"})},
			"p (devel), commit 42, go1.25.1, plan9/arm"},
		{"by another module, from a folder", &debug.BuildInfo{GoVersion: "go1.25.1",
			Main: debug.Module{Path: module, Version: "v0.0.0",
				Replace: &debug.Module{Path: "../incumbent", Version: "(devel)"}}, Settings: on()},
			"p (devel), commit unknown, go1.25.1, plan9/arm"},
		{"by another module, from a fork", &debug.BuildInfo{GoVersion: "go1.25.1",
			Main: debug.Module{Path: module, Version: "v1.0.0",
				Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1"}}, Settings: on()},
			"p v1.0.1, commit unknown, go1.25.1, plan9/arm"},
	} {
		if got := Version("p", c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
