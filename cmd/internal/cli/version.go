package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// unknown is printed for what a build does not say.
const unknown = "unknown"

// version returns what the running program was built from.
func version(program string) string {
	info, _ := debug.ReadBuildInfo() // nil if the program was built without modules
	return Version(program, info)
}

// Version returns the program's name, the module's version, the commit, the Go
// version and the platform, as one line. The build of a checkout has a commit, with
// -dirty where files were changed; one of a released module has a version instead.
// What info does not say, or all of it if info is nil, is unknown.
func Version(program string, info *debug.BuildInfo) string {
	if info == nil {
		info = &debug.BuildInfo{}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return fmt.Sprintf("%s %s, commit %s, %s, %s/%s", program, moduleVersion(info), commit(settings),
		cmp.Or(info.GoVersion, runtime.Version()), cmp.Or(settings["GOOS"], runtime.GOOS),
		cmp.Or(settings["GOARCH"], runtime.GOARCH))
}

// moduleVersion returns the version of the module with the main package: this one, or its
// replacement if another module builds the program.
func moduleVersion(info *debug.BuildInfo) string {
	if r := info.Main.Replace; r != nil {
		return cmp.Or(r.Version, unknown)
	}
	return cmp.Or(info.Main.Version, unknown)
}

// commit returns the checkout's commit, in as many digits as a module's version has.
func commit(settings map[string]string) string {
	revision := settings["vcs.revision"]
	if revision == "" {
		return unknown
	}
	revision = revision[:min(12, len(revision))]
	if settings["vcs.modified"] == "true" {
		revision += "-dirty"
	}
	return revision
}
