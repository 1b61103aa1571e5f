// Package arguments says what is wrong with a path or a prefix that a program gives, and what would be right.
package arguments

import (
	"errors"
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// CheckLine returns what is wrong with the path of a line.
func CheckLine(path string) error {
	switch {
	case path == "":
		return errors.New("incumbent: the path is empty: name the line's directory, as in /jobs/nightly")
	case path == "/":
		return errors.New("incumbent: the path is the root: a line needs a directory of its own, as in /jobs/nightly")
	case strings.Trim(path, "/") == "":
		return fmt.Errorf("incumbent: path %s has no name in it: a line needs a directory of its own, as in "+
			"/jobs/nightly", fault.Quoted(path))
	}
	if strings.HasPrefix(path, "/zookeeper/") || path == "/zookeeper" {
		return errors.New("incumbent: /zookeeper is the ensemble's own: name another directory, as in /jobs/nightly")
	}
	return CheckNode(path)
}

// CheckNode returns what is wrong with the path of any node.
func CheckNode(path string) error {
	switch {
	case path == "":
		return errors.New("incumbent: the path is empty: want one like /app/config")
	case path == "/":
		return nil
	case !strings.HasPrefix(path, "/"):
		return fmt.Errorf("incumbent: path %s does not begin with a slash: want /%s", fault.Quoted(path),
			fault.Path(path))
	case strings.HasSuffix(path, "/"):
		return fmt.Errorf("incumbent: path %s ends with a slash: want %s", fault.Quoted(path),
			fault.Path(strings.TrimRight(path, "/")))
	}
	for _, part := range strings.Split(path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("incumbent: path %s has the empty or relative part %q, which ZooKeeper does not allow",
				fault.Quoted(path), part)
		}
	}
	if i := strings.IndexFunc(path, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
	}); i >= 0 {
		return fmt.Errorf("incumbent: path %s has a character at byte %d that ZooKeeper does not allow",
			fault.Quoted(path), i)
	}
	return nil
}

// CheckParent returns what is wrong with the path of a node that may end in a slash.
func CheckParent(path string) error {
	if path == "/" {
		return nil
	}
	return CheckNode(strings.TrimSuffix(path, "/"))
}

// CheckNamed returns an error if the path of a create has no name at its end: for a
// sequential node the number is the name.
func CheckNamed(path string, mode events.Mode) error {
	switch {
	case sequential[mode] || !strings.HasSuffix(path, "/"):
		return nil
	case path == "/":
		return errors.New("incumbent: the root is there already; it can be neither created nor deleted")
	}
	return fmt.Errorf("incumbent: path %s ends with a slash: want %s, or a sequential node", fault.Quoted(path),
		fault.Path(strings.TrimRight(path, "/")))
}

// sequential are the modes that add a number to the name.
var sequential = map[events.Mode]bool{
	events.PersistentSequential: true, events.EphemeralSequential: true, events.PersistentSequentialTTL: true,
}

// CheckPrefix returns what is wrong with the prefix of a plain election at path.
func CheckPrefix(path, prefix string) error {
	switch {
	case strings.Contains(prefix, "/"):
		return fmt.Errorf("incumbent: the prefix %s has a slash in it: put the directory into the path",
			fault.Quoted(prefix))
	case strings.HasPrefix(prefix, machines.GUIDPrefix):
		return fmt.Errorf("incumbent: the prefix %s begins like a name with a GUID: use a Latch or Selector, or "+
			"another prefix", fault.Quoted(prefix))
	}
	if err := CheckLine(path + "/" + prefix + "0"); err != nil {
		return fmt.Errorf("incumbent: the prefix %s has a character in it that ZooKeeper does not allow",
			fault.Quoted(prefix))
	}
	return nil
}
