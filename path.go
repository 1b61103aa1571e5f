package incumbent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// CheckPath returns what is wrong with the path of a line, or with the prefixes of plain
// elections, and what would be right: the error that Latch, Selector, Election and Line
// would return, before there is a Client.
func CheckPath(path string, prefixes ...string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	for _, prefix := range prefixes {
		if err := checkPrefix(path, prefix); err != nil {
			return err
		}
	}
	return nil
}

func checkPath(path string) error {
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
	return checkNode(path)
}

// checkNode returns what is wrong with the path of any node.
func checkNode(path string) error {
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

// checkParent returns what is wrong with the path of a node that may end in a slash.
func checkParent(path string) error {
	if path == "/" {
		return nil
	}
	return checkNode(strings.TrimSuffix(path, "/"))
}

// checkNamed returns an error if the path of a create has no name at its end: for a
// sequential node the number is the name.
func checkNamed(op events.Op) error {
	switch {
	case sequential[op.Mode] || !strings.HasSuffix(op.Path, "/"):
		return nil
	case op.Path == "/":
		return errors.New("incumbent: the root is there already; it can be neither created nor deleted")
	}
	return fmt.Errorf("incumbent: path %s ends with a slash: want %s, or a sequential node", fault.Quoted(op.Path),
		fault.Path(strings.TrimRight(op.Path, "/")))
}

func checkPrefix(path, prefix string) error {
	switch {
	case strings.Contains(prefix, "/"):
		return fmt.Errorf("incumbent: the prefix %s has a slash in it: put the directory into the path",
			fault.Quoted(prefix))
	case strings.HasPrefix(prefix, machines.GUIDPrefix):
		return fmt.Errorf("incumbent: the prefix %s begins like a name with a GUID: use a Latch or Selector, or "+
			"another prefix", fault.Quoted(prefix))
	}
	if err := checkPath(path + "/" + prefix + "0"); err != nil {
		return fmt.Errorf("incumbent: the prefix %s has a character in it that ZooKeeper does not allow",
			fault.Quoted(prefix))
	}
	return nil
}
