package zkmem

import "strings"

// split returns a path's parent and last name. ok is false if there is no slash, or a zero character. The parent of
// "/a" is "", which is the root.
func split(path string) (parent, name string, ok bool) {
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", "", false
	}
	return path[:slash], path[slash+1:], true
}

// validPath reports whether ZooKeeper would let a node have this path.
func validPath(path string) bool {
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' || strings.HasSuffix(path, "/") {
		return false
	}
	for _, name := range strings.Split(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	for _, r := range path {
		if forbiddenRune(r) {
			return false
		}
	}
	return true
}

// forbiddenRune reports whether a rune is a control character, in a private use area or one that Java writes as two
// units.
func forbiddenRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// ownPath reports whether a node is ZooKeeper's own and cannot be deleted.
func ownPath(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config":
		return true
	}
	return false
}
