package jute

import "encoding/binary"

// LengthSize is how many bytes a frame has before its message: its length.
const LengthSize = 4

// Frame is a message that is being written, with room for its length before it.
type Frame []byte

// NewFrame begins a frame.
func NewFrame() Frame { return make(Frame, LengthSize, 128) }

// Int32 appends a number of four bytes.
func (f Frame) Int32(v int32) Frame { return binary.BigEndian.AppendUint32(f, uint32(v)) }

// Int64 appends a number of eight bytes.
func (f Frame) Int64(v int64) Frame { return binary.BigEndian.AppendUint64(f, uint64(v)) }

// Bool appends one byte.
func (f Frame) Bool(v bool) Frame {
	if v {
		return append(f, 1)
	}
	return append(f, 0)
}

// Bytes appends data; nil has length 0, and is not null. Curator writes length 0 as well, and programs in Java take a
// node's data for an object without a look.
func (f Frame) Bytes(v []byte) Frame { return append(f.Int32(int32(len(v))), v...) }

// Text appends a string.
func (f Frame) Text(v string) Frame { return append(f.Int32(int32(len(v))), v...) }

// Texts appends strings.
func (f Frame) Texts(list []string) Frame {
	f = f.Int32(int32(len(list)))
	for _, s := range list {
		f = f.Text(s)
	}
	return f
}

// Finish sets the length.
func (f Frame) Finish() []byte {
	binary.BigEndian.PutUint32(f, uint32(len(f)-LengthSize))
	return f
}
