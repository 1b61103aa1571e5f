package incumbent

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/machines"
)

// header describes this program and its settings. It holds no secret.
func (c *Client) header() events.Header {
	h := events.Header{
		Library: "incumbent " + version(),
		Go:      runtime.Version(),
		Charts:  map[string]string{},
		Options: c.config.options(),
		Start:   time.Now().UTC().Format(time.RFC3339Nano),
		StartAt: c.clock.Now(),

		Run: newSeed(), Name: c.config.Name, Host: host(), Boot: bootID(), PID: os.Getpid(), Clock: clock.Name(),
		Servers: serversOf(c.config.Servers), AskedTimeout: int64(c.config.SessionTimeout),
	}
	h.Program, h.ProgramVersion = program()
	for _, r := range machines.Recipes() {
		h.Charts[r.Name()] = r.Digest()
	}
	return h
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// bootID returns the kernel's id of this boot, "" if there is none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// serversOf returns the servers of a connect string. What stands before an @, as
// credentials do in URLs, is left out.
func serversOf(connect string) []string {
	all := strings.Split(connect, ",")
	for i, server := range all {
		all[i] = server[strings.LastIndexByte(server, '@')+1:]
	}
	return all
}

// program returns the path of the main package, and its version or revision.
func program() (path, version string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)", "(unknown)"
	}
	version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			version += " " + s.Value
		}
	}
	return info.Path, version
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	const module = "github.com/incumbent-go/incumbent"
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return "(unknown)"
}
