package zkio

import "github.com/incumbent-go/incumbent/events"

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

// acl reads an access list.
func (b *body) acl() []ACL {
	n := int(b.int32())
	if n < -1 || n > len(b.rest)/12 { // each takes at least twelve bytes
		b.bad = true
		return nil
	}
	var list []ACL
	for range n {
		list = append(list, ACL{Perms: b.int32(), Scheme: b.string(), ID: b.string()})
	}
	return list
}
