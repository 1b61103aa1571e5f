//go:build !js

package zkmem

import (
	"encoding/binary"
	"io"
)

// decoder reads ZooKeeper's encoding (jute). The first mistake sets bad for good; what is read afterwards is zero. null
// reports that a text was null that must not be.
type decoder struct {
	buf       []byte
	bad, null bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.buf) {
		d.bad = true
		return nil
	}
	b := d.buf[:n]
	d.buf = d.buf[n:]
	return b
}

func (d *decoder) int32() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) bool() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

// bytes returns a copy; nil stands for ZooKeeper's null.
func (d *decoder) bytes() []byte {
	n := d.int32()
	if n == -1 || d.bad {
		return nil
	}
	return append([]byte{}, d.take(int(n))...)
}

// text returns a string that must not be null.
func (d *decoder) text() string {
	text := d.textOr(nullID)
	if text == nullID {
		d.null = true
		return ""
	}
	return text
}

// count returns the length of a list whose items take at least size bytes each; null is an empty list.
func (d *decoder) count(size int) int {
	n := int(d.int32())
	if n == -1 {
		return 0
	}
	if n < 0 || n > len(d.buf)/size {
		d.bad = true
		return 0
	}
	return n
}

func (d *decoder) texts() []string {
	list := make([]string, d.count(4))
	for i := range list {
		list[i] = d.text()
	}
	return list
}

// acls returns an access list; nil stands for ZooKeeper's null.
func (d *decoder) acls() []ACL {
	null := len(d.buf) >= 4 && int32(binary.BigEndian.Uint32(d.buf)) == -1
	list := make([]ACL, d.count(12))
	if null {
		return nil
	}
	for i := range list {
		list[i] = ACL{Perms: d.int32(), Scheme: d.textOr(""), ID: d.textOr(nullID)}
	}
	return list
}

// textOr returns a string, or null instead of ZooKeeper's null.
func (d *decoder) textOr(null string) string {
	n := d.int32()
	if n == -1 {
		return null
	}
	return string(d.take(int(n)))
}

// encoder appends ZooKeeper's encoding to a frame that begins with room for its length.
type encoder struct{ buf []byte }

func newFrame() *encoder { return &encoder{buf: make([]byte, 4, 128)} }

// frame returns the finished frame.
func (e *encoder) frame() []byte {
	binary.BigEndian.PutUint32(e.buf, uint32(len(e.buf)-4))
	return e.buf
}

func (e *encoder) int32(v int32) { e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(v)) }
func (e *encoder) int64(v int64) { e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.buf = append(e.buf, 1)
		return
	}
	e.buf = append(e.buf, 0)
}

func (e *encoder) bytes(v []byte) {
	if v == nil {
		e.int32(-1)
		return
	}
	e.int32(int32(len(v)))
	e.buf = append(e.buf, v...)
}

func (e *encoder) text(v string) {
	e.int32(int32(len(v)))
	e.buf = append(e.buf, v...)
}

func (e *encoder) texts(list []string) {
	e.int32(int32(len(list)))
	for _, v := range list {
		e.text(v)
	}
}

func (e *encoder) acls(list []ACL) {
	e.int32(int32(len(list)))
	for _, a := range list {
		e.int32(a.Perms)
		e.text(a.Scheme)
		e.text(a.ID)
	}
}

func (e *encoder) stat(s Stat) {
	e.int64(s.Czxid)
	e.int64(s.Mzxid)
	e.int64(s.Ctime)
	e.int64(s.Mtime)
	e.int32(s.Version)
	e.int32(s.Cversion)
	e.int32(s.Aversion)
	e.int64(s.EphemeralOwner)
	e.int32(s.DataLength)
	e.int32(s.NumChildren)
	e.int64(s.Pzxid)
}

func (e *encoder) replyHeader(xid int32, zxid int64, code Code) {
	e.int32(xid)
	e.int64(zxid)
	e.int32(int32(code))
}

// readFrame reads a frame whose length prefix has been read already.
func readFrame(r io.Reader, prefix [4]byte, limit int) ([]byte, error) {
	n := int32(binary.BigEndian.Uint32(prefix[:]))
	if n < 0 || int(n) > limit {
		return nil, errFrameLength
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(r, frame)
	return frame, err
}
