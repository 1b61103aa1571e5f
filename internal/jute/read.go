// Package jute reads and writes Jute, the encoding of ZooKeeper's protocol and of its transaction logs. The server in
// zkio/zkmem has its own: what one of them gets wrong, the other one shows.
package jute

import "encoding/binary"

// Decoder reads from the front. If a length does not fit, Bad is set, and all further reads return zero.
type Decoder struct {
	Rest []byte // what has not been read
	Bad  bool
}

// Take returns the next n bytes, which are not copied.
func (d *Decoder) Take(n int) []byte {
	if d.Bad || n < 0 || n > len(d.Rest) {
		d.Bad = true
		return nil
	}
	taken := d.Rest[:n]
	d.Rest = d.Rest[n:]
	return taken
}

// Int32 reads a number of four bytes.
func (d *Decoder) Int32() int32 {
	if raw := d.Take(4); raw != nil {
		return int32(binary.BigEndian.Uint32(raw))
	}
	return 0
}

// Int64 reads a number of eight bytes.
func (d *Decoder) Int64() int64 {
	if raw := d.Take(8); raw != nil {
		return int64(binary.BigEndian.Uint64(raw))
	}
	return 0
}

// Bool reads one byte.
func (d *Decoder) Bool() bool {
	raw := d.Take(1)
	return raw != nil && raw[0] != 0
}

// Bytes returns a copy of a buffer; nil is null.
func (d *Decoder) Bytes() []byte {
	n := d.Int32()
	if n == -1 || d.Bad {
		return nil
	}
	return append([]byte{}, d.Take(int(n))...)
}

// Text reads a string. Null is the empty string.
func (d *Decoder) Text() string {
	n := d.Int32()
	if n == -1 {
		return ""
	}
	return string(d.Take(int(n)))
}

// Count reads how many elements follow, each of which takes at least so many bytes. Null is 0.
func (d *Decoder) Count(least int) int {
	n := int(d.Int32())
	if n < -1 || n > len(d.Rest)/least {
		d.Bad = true
	}
	if n == -1 || d.Bad {
		return 0
	}
	return n
}

// Texts reads strings; nil is null.
func (d *Decoder) Texts() []string {
	null := len(d.Rest) >= 4 && int32(binary.BigEndian.Uint32(d.Rest)) == -1
	list := make([]string, d.Count(4))
	if null || d.Bad {
		return nil
	}
	for i := range list {
		list[i] = d.Text()
	}
	return list
}
