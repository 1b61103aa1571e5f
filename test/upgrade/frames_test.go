package upgrade

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
)

// The operations of ZooKeeper's protocol that a recording names: zookeeper-server/src/main/java/org/apache/zookeeper/ZooDefs.java
// of ZooKeeper 3.8.
var operations = map[int32]string{
	1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData", 6: "getACL", 7: "setACL", 8: "getChildren", 9: "sync",
	11: "ping", 12: "getChildren2", 13: "check", 14: "multi", 15: "create2", 18: "removeWatches", 19: "createContainer",
	21: "createTTL", 100: "auth", 101: "setWatches", 105: "setWatches2", -11: "closeSession",
}

// The modes of a create: CreateMode.java of ZooKeeper 3.8.
var modes = []string{"persistent", "ephemeral", "persistent-sequential", "ephemeral-sequential", "container", "ttl", "ttl-sequential"}

// request reads one frame that a client sends, from the front. A length that does not fit sets bad, and what follows is empty.
type request struct {
	rest []byte
	bad  bool
}

func (r *request) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *request) number() int32 {
	if raw := r.take(4); raw != nil {
		return int32(binary.BigEndian.Uint32(raw))
	}
	return 0
}

func (r *request) flag() bool {
	raw := r.take(1)
	return raw != nil && raw[0] != 0
}

// bytes returns nil for ZooKeeper's null.
func (r *request) bytes() []byte {
	n := r.number()
	if n == -1 {
		return nil
	}
	return r.take(int(n))
}

func (r *request) path() string { return string(r.bytes()) }

func (r *request) data() string {
	raw := r.bytes()
	if raw == nil {
		return "null"
	}
	return fmt.Sprintf("%q", raw)
}

// acl is empty for the list that everybody may do everything.
func (r *request) acl() string {
	n := r.number()
	var all []string
	for range n {
		perms, scheme, id := r.number(), r.path(), r.path()
		if r.bad {
			break
		}
		all = append(all, fmt.Sprintf("%s:%s:%d", scheme, id, perms))
	}
	if len(all) == 1 && all[0] == "world:anyone:31" {
		return ""
	}
	return " acl " + strings.Join(all, ",")
}

// sentence says what a request asks for: the operation, its path, and what else it holds.
func sentence(frame []byte) string {
	r := &request{rest: frame}
	r.number() // the xid
	text := r.operation(r.number())
	if r.bad || len(r.rest) > 0 {
		return fmt.Sprintf("malformed %q", frame)
	}
	return plain(text)
}

func (r *request) operation(code int32) string {
	name, known := operations[code]
	if !known {
		name = fmt.Sprintf("operation %d", code)
	}
	switch name {
	case "create", "create2", "createContainer", "createTTL":
		path, data, acl, mode := r.path(), r.data(), r.acl(), r.number()
		if name == "createTTL" {
			r.take(8)
		}
		if mode < 0 || int(mode) >= len(modes) {
			return fmt.Sprintf("%s with mode %d", name, mode)
		}
		return fmt.Sprintf("%s %s %s %s%s", name, path, data, modes[mode], acl)
	case "delete", "check":
		return fmt.Sprintf("%s %s version %d", name, r.path(), r.number())
	case "setData":
		return fmt.Sprintf("%s %s %s version %d", name, r.path(), r.data(), r.number())
	case "exists", "getData", "getChildren", "getChildren2":
		text := name + " " + r.path()
		if r.flag() {
			text += " watch"
		}
		return text
	case "sync", "getACL":
		return name + " " + r.path()
	case "multi":
		return "multi " + r.multi()
	case "ping", "closeSession":
		return name
	}
	r.rest = nil
	return name
}

func (r *request) multi() string {
	var all []string
	for !r.bad {
		code := r.number()
		done := r.flag()
		r.number() // an error code, unused in requests
		if done {
			break
		}
		all = append(all, r.operation(code))
	}
	return "(" + strings.Join(all, "; ") + ")"
}

// varying are the parts of names and data that are different in every run.
var varying = []struct {
	pattern *regexp.Regexp
	plain   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "GUID"},
	{regexp.MustCompile(`[0-9a-f]{32}`), "HEX"},
	{regexp.MustCompile(`\|[0-9A-F]{9,16}\|`), "|DUE|"},
}

// plain replaces what is different in every run.
func plain(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.plain)
	}
	return text
}
