package txnlog

import (
	"encoding/binary"
	"errors"
)

// decoder reads Jute, ZooKeeper's encoding. After an error everything is zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) take(n int) []byte {
	if d.err == nil && (n < 0 || n > len(d.b)) {
		d.err = errors.New("the record ends early")
	}
	if d.err != nil {
		return nil
	}
	head := d.b[:n]
	d.b = d.b[n:]
	return head
}

func (d *decoder) int() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) long() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) bool() bool {
	b := d.take(1)
	return len(b) == 1 && b[0] != 0
}

// buffer reads a length and as many bytes. It returns nil if the length is -1.
func (d *decoder) buffer() []byte {
	if n := d.int(); n >= 0 {
		return d.take(int(n))
	}
	return nil
}

func (d *decoder) string() string { return string(d.buffer()) }

func (d *decoder) acl() {
	for n := d.int(); n > 0 && d.err == nil; n-- {
		d.int()
		d.buffer()
		d.buffer()
	}
}
