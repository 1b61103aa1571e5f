package zkio

import (
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// getACL reads a node's access list. Servers since 3.4.14 and 3.5.5 want READ or ADMIN for it.
type getACL struct {
	events.Call
	path string
}

// Header returns the fields of all requests.
func (r getACL) Header() events.Call { return r.Call }

func (r getACL) String() string { return "get the access list of " + r.path }

// AppendTo appends the written form.
func (r getACL) AppendTo(b []byte) []byte { return append(b, r.String()...) }

// readACL reads an access list.
func readACL(b *jute.Decoder) (list []ACL) {
	for range b.Count(12) { // so many bytes at least
		list = append(list, ACL{Perms: b.Int32(), Scheme: b.Text(), ID: b.Text()})
	}
	return list
}

// setACL replaces a node's access list, if it has this version. It wants ADMIN.
type setACL struct {
	events.Call
	path    string
	list    []ACL
	version int32
}

// Header returns the fields of all requests.
func (r setACL) Header() events.Call { return r.Call }

func (r setACL) String() string {
	return fmt.Sprintf("set the access list of %s in version %d", r.path, r.version)
}

// AppendTo appends the written form.
func (r setACL) AppendTo(b []byte) []byte { return append(b, r.String()...) }

// wireACL returns an access list as go-zookeeper has it.
func wireACL(list []ACL) (all []zk.ACL) {
	for _, entry := range list {
		all = append(all, zk.ACL{Perms: entry.Perms, Scheme: entry.Scheme, ID: entry.ID})
	}
	return all
}

// sizeOfACL returns the bytes of an access list in a request.
func sizeOfACL(list []ACL) (size int) {
	for _, entry := range list {
		size += 4 + 4 + len(entry.Scheme) + 4 + len(entry.ID)
	}
	return size
}

// list returns the access list for the node of the i-th operation; nil: it has that of Config.ACL.
func (c *call) list(i int) []ACL {
	if i < len(c.lists) {
		return c.lists[i]
	}
	return nil
}

// access returns the access list of a node that is created: its own, or Config.ACL.
func (a *coding) access(own []ACL) []zk.ACL {
	if own == nil {
		return a.acl
	}
	return wireACL(own)
}

// accessSize returns the bytes of such a list in a request.
func (a *coding) accessSize(own []ACL) int {
	if own == nil {
		return a.aclSize
	}
	return sizeOfACL(own)
}

// encodeACL appends an access list.
func encodeACL(f frame, list []zk.ACL) frame {
	f = f.Int32(int32(len(list)))
	for _, entry := range list {
		f = f.Int32(entry.Perms).Text(entry.Scheme).Text(entry.ID)
	}
	return f
}
