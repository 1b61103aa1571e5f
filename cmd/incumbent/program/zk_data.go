package program

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// savedNode is a line of the file that incumbent zk loads and saves. Parents come before their children.
type savedNode struct {
	Path string      `json:"path"`
	Data []byte      `json:"data,omitempty"` // base64
	ACL  []zkmem.ACL `json:"acl,omitempty"`  // none is open to everybody

	Container bool  `json:"container,omitempty"` // it is deleted when its last child has been
	TTLMs     int64 `json:"ttlMs,omitempty"`     // it is deleted when it has had no write for so long, and no child
}

// create is the operation that makes the node.
func (n savedNode) create() zkmem.Op {
	op := zkmem.Op{Code: zkmem.OpCreate, Path: n.Path, Data: n.Data, ACL: n.ACL}
	switch {
	case n.Container:
		op.Code = zkmem.OpCreateContainer
	case n.TTLMs != 0:
		op.Code, op.Mode, op.TTL = zkmem.OpCreateTTL, zkmem.TTL, n.TTLMs
	}
	if len(op.ACL) == 0 {
		op.ACL = zkmem.OpenACL()
	}
	return op
}

// hint says what would be right, where that is known.
func (n savedNode) hint(err error) string {
	if n.TTLMs > 0 && errors.Is(err, zkmem.Unimplemented) {
		return ": nodes with a TTL need --ttl"
	}
	return ""
}

const maxSavedLine = 16 << 20

// load creates the nodes of a file. A file that does not exist has none.
func load(srv *zkmem.Server, file string) (int, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return loadFrom(srv, f, file)
}

func loadFrom(srv *zkmem.Server, r io.Reader, name string) (count int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSavedLine)
	for number := 1; lines.Scan(); number++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var n savedNode
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			return count, fmt.Errorf(`%s: line %d: %w: want {"path": "/a", "data": BASE64}`, name, number, err)
		}
		if _, err := srv.Do(n.create()); err != nil {
			return count, fmt.Errorf("%s: line %d: create %q: %w%s", name, number, n.Path, err, n.hint(err))
		}
		count++
	}
	if err := lines.Err(); err != nil {
		return count, fmt.Errorf("%s: %w", name, err)
	}
	return count, nil
}

// save writes the nodes to a file: not ZooKeeper's own, and none that ends with its session. A reader finds the old
// file or the new one.
func save(srv *zkmem.Server, file string) (int, error) {
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(temp.Name()) // it has another name by then, or is of no use
	out := bufio.NewWriter(temp)
	count, err := writeNodes(srv.Snapshot(), "", json.NewEncoder(out))
	if err == nil {
		err = out.Flush()
	}
	if failed := temp.Close(); err == nil {
		err = failed
	}
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	return count, err
}

func writeNodes(tree *zkmem.Tree, parent string, out *json.Encoder) (int, error) {
	names, _, _ := tree.Children(parent)
	count := 0
	for _, name := range names {
		path := parent + "/" + name
		data, stat, err := tree.Get(path)
		if err != nil || stat.EphemeralOwner != 0 || path == "/zookeeper" {
			continue
		}
		acl, _, _ := tree.ACL(path)
		container, ttl := tree.Lasting(path)
		if err := out.Encode(savedNode{path, data, acl, container, ttl}); err != nil {
			return count, err
		}
		below, err := writeNodes(tree, path, out)
		if count += 1 + below; err != nil {
			return count, err
		}
	}
	return count, nil
}
