package jute

import (
	"bytes"
	"slices"
	"testing"
)

// The bytes are those of ZooKeeper's BinaryOutputArchive: big-endian numbers, and a length before each buffer.
func TestBytes(t *testing.T) {
	got := NewFrame().Int32(-2).Int64(1).Bool(true).Bool(false).Text("ab").Bytes(nil).Texts([]string{"c"}).Finish()
	want := "\x00\x00\x00\x21" + "\xff\xff\xff\xfe" + "\x00\x00\x00\x00\x00\x00\x00\x01" + "\x01\x00" +
		"\x00\x00\x00\x02ab" + "\x00\x00\x00\x00" + "\x00\x00\x00\x01\x00\x00\x00\x01c"
	if string(got) != want {
		t.Fatalf("% x, want % x", got, want)
	}
	d := Decoder{Rest: got[LengthSize:]}
	if d.Int32() != -2 || d.Int64() != 1 || !d.Bool() || d.Bool() || d.Text() != "ab" ||
		!bytes.Equal(d.Bytes(), []byte{}) || !slices.Equal(d.Texts(), []string{"c"}) || d.Bad || len(d.Rest) != 0 {
		t.Errorf("it is read otherwise: bad %t, % x are left", d.Bad, d.Rest)
	}
}

// A null buffer or list is nil, an empty one is not.
func TestNull(t *testing.T) {
	null := func() *Decoder { return &Decoder{Rest: []byte("\xff\xff\xff\xff")} }
	empty := func() *Decoder { return &Decoder{Rest: []byte("\x00\x00\x00\x00")} }
	if null().Bytes() != nil || empty().Bytes() == nil || null().Texts() != nil || empty().Texts() == nil {
		t.Error("null is empty, or the other way around")
	}
	for _, of := range []func() *Decoder{null, empty} {
		if d := of(); d.Text() != "" || d.Bad {
			t.Error("a text without characters is bad")
		}
		if d := of(); d.Count(4) != 0 || d.Bad {
			t.Error("a list without elements is bad")
		}
	}
}

// What ends before its length, or before its last byte, is zero and bad, and so is all that follows.
func TestWhatEndsTooEarly(t *testing.T) {
	for name, read := range map[string]func(*Decoder) bool{
		"int32": func(d *Decoder) bool { return d.Int32() == 0 },
		"int64": func(d *Decoder) bool { return d.Int64() == 0 },
		"bytes": func(d *Decoder) bool { return d.Bytes() == nil },
		"text":  func(d *Decoder) bool { return d.Text() == "" },
		"texts": func(d *Decoder) bool { return d.Texts() == nil },
		"count": func(d *Decoder) bool { return d.Count(1) == 0 },
	} {
		for bytes := range 4 {
			d := &Decoder{Rest: []byte("\x01\x01\x01")[:bytes]}
			if !read(d) || !d.Bad || d.Bool() || d.Int64() != 0 {
				t.Errorf("%s of %d bytes is something, or bad is %t", name, bytes, d.Bad)
			}
		}
	}
}

// Whatever a length claims, nothing is read beyond the end, and no memory is taken for it.
func TestLengthsThatDoNotFit(t *testing.T) {
	for name, read := range map[string]func(*Decoder) int{
		"bytes": func(d *Decoder) int { return len(d.Bytes()) },
		"text":  func(d *Decoder) int { return len(d.Text()) },
		"texts": func(d *Decoder) int { return len(d.Texts()) },
		"count": func(d *Decoder) int { return d.Count(12) },
	} {
		for _, length := range []string{"\x7f\xff\xff\xff", "\xff\xff\xff\xfe", "\x80\x00\x00\x00",
			"\x00\x00\x00\x09", "\x00"} {
			d := &Decoder{Rest: []byte(length + "12345678")[:len(length)+4]}
			if n := read(d); n != 0 || !d.Bad || d.Int32() != 0 || d.Bool() {
				t.Errorf("%s with the length %q: %d are read, bad %t", name, length, n, d.Bad)
			}
		}
	}
}
