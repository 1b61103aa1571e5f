package meter

import "encoding/binary"

// Framing finds the requests in what a client sends. It is given the bytes as they come, in pieces of any size.
type Framing interface {
	// Feed takes the next bytes and returns how many requests ended in them.
	Feed(data []byte) (requests int)
}

// frames cuts a stream into frames: a head of fixed size says how long the body is.
type frames struct {
	head    []byte
	size    int                    // of the head
	body    func(head []byte) int  // how many bytes follow it
	counts  func(head []byte) bool // whether the frame is a request
	skip    int                    // bytes of the body, or before the first frame, that are still to come
	request bool                   // whether that body is a request's
}

// Feed takes the next bytes.
func (f *frames) Feed(data []byte) (requests int) {
	for len(data) > 0 {
		if f.skip == 0 {
			n := min(f.size-len(f.head), len(data))
			f.head, data = append(f.head, data[:n]...), data[n:]
			if len(f.head) < f.size {
				return requests
			}
			f.skip, f.request = f.body(f.head), f.counts(f.head)
			f.head = f.head[:0]
		}
		n := min(f.skip, len(data))
		f.skip, data = f.skip-n, data[n:]
		if f.skip == 0 && f.request {
			requests++
			f.request = false
		}
	}
	return requests
}

// ZooKeeper counts requests of ZooKeeper's protocol, without pings. A frame begins with its length and the request's
// xid; pings have the xid -2. The first frame of a connection is the connect request, which is not counted: it has 0,
// the version of the protocol, in place of an xid.
func ZooKeeper() Framing {
	return &frames{
		size: 8,
		body: func(head []byte) int { return max(0, int(int32(binary.BigEndian.Uint32(head)))-4) },
		counts: func(head []byte) bool {
			xid := int32(binary.BigEndian.Uint32(head[4:]))
			return xid != -2 && xid != 0
		},
	}
}

// preface is what a client of HTTP/2 sends first.
const preface = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

// HTTP2 counts messages of gRPC: each is a DATA frame with a body, or several if it is larger than 16 kB.
func HTTP2() Framing {
	return &frames{
		size:   9,
		skip:   preface,
		body:   func(head []byte) int { return int(head[0])<<16 | int(head[1])<<8 | int(head[2]) },
		counts: func(head []byte) bool { return head[3] == 0 && (head[0]|head[1]|head[2]) != 0 },
	}
}
