package house

import (
	"fmt"
	"slices"
	"strings"
)

var (
	// product are the rooms that programs import, and the directory of the log.
	product = []string{".", "engine", "events", "machines", "zkio", "zkio/zkmem", "slogger",
		"discovery", "health", "metrics", "internal/segments"}
	// leaves are the rooms behind the door that only the door imports.
	leaves = []string{"internal/arguments", "internal/async", "internal/belief", "internal/caller", "internal/calls",
		"internal/clock", "internal/fault", "internal/flightlog", "internal/handles", "internal/healthcheck",
		"internal/jobs", "internal/journal", "internal/meters", "internal/tree"}
	// tools are the rooms behind the programs: no other program can import them.
	tools = []string{"internal/doctor", "internal/world", "internal/why", "internal/why/txnlog",
		"internal/drawing", "internal/page", "internal/page/live",
		"internal/digestmd5", "internal/jute", "internal/play", "internal/play/web", "internal/play/server"}
)

// rooms says which rooms of this module the room's code may import.
var rooms = map[string][]string{
	".": slices.Concat(leaves, []string{"engine", "events", "machines", "zkio", "internal/sources", "internal/segments",
		"internal/digestmd5", "internal/invariants", "internal/jute", "internal/optimizations", "internal/plaindata",
		"internal/usercode"}),
	"internal/arguments":   {"events", "machines", "internal/fault"},
	"internal/async":       {"internal/usercode"},
	"internal/caller":      nil,
	"internal/tree":        nil,
	"internal/healthcheck": {"events"},
	"internal/jobs":        nil,
	"internal/belief":      {"events"},
	"internal/calls":       {"events", "machines", "zkio", "internal/async", "internal/fault"},
	"internal/clock":       {"engine"},
	"internal/digestmd5":   nil,
	"internal/jute":        nil,
	"internal/fault":       {"events"},
	"internal/handles": {"engine", "events", "machines", "zkio", "internal/async", "internal/belief", "internal/caller",
		"internal/calls", "internal/fault", "internal/journal"},
	"internal/flightlog": {"engine", "events", "internal/fault", "internal/journal", "internal/segments",
		"internal/usercode"},
	"internal/journal": {"events", "machines", "internal/async", "internal/clock", "internal/fault",
		"internal/usercode"},
	"internal/meters":        {"engine", "events"},
	"internal/invariants":    nil,
	"internal/usercode":      nil,
	"internal/optimizations": nil,
	"internal/sources":       {"engine"},
	"internal/segments":      {"events"},
	"internal/quorum":        nil,
	"machines":               {"engine", "events"},
	"engine":                 {"events", "internal/plaindata"},
	"internal/plaindata":     nil,
	"events":                 nil,
	"zkio": {"engine", "events", "internal/invariants", "internal/jute", "internal/optimizations",
		"internal/usercode"},
	"zkio/zkmem":          {"internal/digestmd5", "internal/quorum"},
	"internal/world":      {"engine", "events", "machines", "zkio/zkmem", "internal/quorum"},
	"internal/why":        {"events", "machines", "internal/why/txnlog"},
	"internal/why/txnlog": {"internal/jute"},
	"internal/doctor":     {".", "events", "internal/jute", "machines", "zkio"},
	"internal/drawing":    {"engine", "events"},
	"internal/page":       {"internal/drawing", "events", "machines", "internal/why"},
	"internal/page/live":  {"events", "internal/page", "internal/why", "internal/segments"},
	"internal/play": {"events", "machines", "internal/page", "internal/why", "internal/why/txnlog", "internal/world",
		"zkio/zkmem"},
	"internal/play/web":    {"internal/page"},
	"internal/play/server": {"internal/page/live", "internal/play", "internal/play/web"},
	"slogger":              nil,
	"discovery":            {".", "events"},
	"health":               {".", "events"},
	"metrics":              {".", "events"},
	"cmd":                  slices.Concat(product, tools, []string{"cmd"}),
	"test": slices.Concat(product, tools,
		[]string{"internal/sources", "internal/invariants", "internal/optimizations", "cmd", "test"}),
	"events/more": {"events"},
	// Modules of their own: programs to copy, a module each, and what compares with other libraries.
	"docs/examples": {".", "zkio/zkmem", "slogger", "discovery", "health", "metrics", "integrations"},
	"integrations":  {".", "zkio/zkmem", "discovery", "health", "metrics", "cmd", "integrations"},
	"bench":         {".", "zkio/zkmem", "internal/world", "test", "bench"},
}

// room returns the entry of rooms that a folder belongs to; "" for none.
func room(dir string) string {
	switch {
	case under(dir, "cmd"):
		return "cmd"
	case under(dir, "test"):
		return "test"
	case under(dir, "docs/examples"):
		return "docs/examples"
	case strings.HasPrefix(dir, "integrations/"):
		return "integrations"
	case under(dir, "bench"):
		return "bench"
	case strings.HasPrefix(dir, "events/"):
		return "events/more"
	}
	if _, ok := rooms[dir]; ok {
		return dir
	}
	return ""
}

// guest is somebody else's module: who may import it, and why nobody else.
type guest struct {
	path string
	in   func(*file) bool
	why  string
}

var guests = []guest{
	{"github.com/go-zookeeper/zk", func(f *file) bool {
		return f.dir == "zkio"
	}, "zkio is the only pair of hands: what it does not see is neither recorded nor replayed"},
	{"github.com/looplab/fsm", func(f *file) bool {
		return f.path == "engine/machine.go"
	}, "looplab has traps enough for one file: see its comments there"},
	{"github.com/rs/zerolog", func(f *file) bool {
		return f.in(".", "slogger") || f.in(leaves...) || under(f.dir,
			"cmd")
	},
		"the loop does not log: the flight recorder tells what happened"},
	{"golang.org/x/sys", func(f *file) bool { return f.dir == "internal/clock" || under(f.dir, "cmd") },
		"the operating system is the clock's: the other rooms run anywhere"},
}

var arrows = []rule{
	{
		name: "every Go folder is a room",
		why:  "if nobody can say which room, the noun is missing: find the noun first",
		finds: func(f *file) []finding {
			if room(f.dir) == "" {
				return []finding{{f.tree.Package, "the house has no room " + f.dir}}
			}
			return nil
		},
		breach: breach{"utils/x.go", "package utils"},
	},
	{
		name: "arrows point one way",
		why: "cmd → incumbent → {machines, zkio} → engine → events, and world → {machines, zkmem}: " +
			"a room knows " +
			"nothing of who uses it, so it can be read, tested and used without them",
		finds: func(f *file) []finding {
			if f.test {
				return nil
			}
			return f.imports(func(p string) string {
				if !under(p, module) {
					return ""
				}
				to := strings.TrimPrefix(strings.TrimPrefix(p, module), "/")
				if to == "" {
					to = "."
				}
				if to != f.dir && !slices.Contains(rooms[room(f.dir)], room(to)) {
					return fmt.Sprintf("%s may not import %s", f.dir, to)
				}
				return ""
			})
		},
		breach: breach{"engine/x.go", `package engine; import _ "` + module + `/zkio"`},
	},
	{
		name: "guests stay in their room",
		why:  "one dependency, one place: it can be read about, replaced and feared there",
		finds: func(f *file) []finding {
			if f.test || f.nested {
				return nil
			}
			return f.imports(func(p string) string {
				for _, g := range guests {
					if under(p, g.path) && !g.in(f) {
						return fmt.Sprintf("%s may not be imported here: %s", p, g.why)
					}
				}
				return ""
			})
		},
		breach: breach{"machines/x.go", `package machines; import _ "github.com/go-zookeeper/zk"`},
	},
	{
		name: "no stranger in the library",
		why:  "whoever embeds the library pays for each of its dependencies, in size, in reviews and in trust",
		finds: func(f *file) []finding {
			if f.test || f.nested || under(f.dir, "cmd") || room(f.dir) == "events/more" {
				return nil
			}
			return f.imports(func(p string) string {
				first, _, _ := strings.Cut(p, "/")
				known := slices.ContainsFunc(guests, func(g guest) bool { return under(p, g.path) })
				if p == "C" || strings.Contains(first, ".") && !under(p, module) && !known {
					return "nobody agreed to " + p
				}
				return ""
			})
		},
		breach: breach{"zkio/x.go", `package zkio; import _ "example.com/uuid"`},
	},
}
