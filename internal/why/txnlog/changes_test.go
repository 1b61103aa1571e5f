package txnlog

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"
)

// create returns the rest of a create of an ephemeral node with the data "d", whose access list has these users.
func create(path string, users ...string) []byte {
	b := append(text(path), text("d")...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(users)))
	for _, user := range users {
		b = binary.BigEndian.AppendUint32(b, 31)
		b = append(append(b, text(user)...), text(user)...)
	}
	return append(b, 1, 0, 0, 0, 1) // and the number of the parent's children
}

// part returns one part of a multi.
func part(kind Kind, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(kind))
	return append(binary.BigEndian.AppendUint32(b, uint32(len(rest))), rest...)
}

// multi returns the rest of a multi with these parts.
func multi(parts ...[]byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(parts))), slices.Concat(parts...)...)
}

var (
	made    = part(Create, create("/b", "u")...)
	gone    = part(Delete, text("/c")...)
	refused = part(Error, 0xff, 0xff, 0xff, 0x9b)
	early   = part(Delete, 0, 0, 0, 9)
)

// What a transaction did to nodes is read behind access lists of any length. A multi of which one part failed did
// nothing.
func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		kind Kind
		rest []byte
		want []Change
	}{
		"without an access list": {Create, create("/a"), []Change{{Create, "/a", []byte("d"), true}}},
		"one user":               {Create2, create("/a", "u"), []Change{{Create2, "/a", []byte("d"), true}}},
		"six entries of no user": {Create, create("/a", "", "", "", "", "", ""),
			[]Change{{Create, "/a", []byte("d"), true}}},
		"a multi": {Multi, multi(made, gone),
			[]Change{{Create, "/b", []byte("d"), true}, {Kind: Delete, Path: "/c"}}},
		"a part that was refused": {Multi, multi(made, refused, gone), nil},
		"no parts":                {Multi, multi(), nil},
		"parts below zero":        {Multi, append([]byte{0xff, 0xff, 0xff, 0xff}, gone...), nil},
	} {
		all, err := Parse(file(txn(1, 7, 1, c.kind, c.rest...)))
		if err != nil || len(all) != 1 || !reflect.DeepEqual(all[0].Changes, c.want) {
			t.Errorf("%s: %v %v, want %v", name, all, err, c.want)
		}
	}
	for name, rest := range map[string][]byte{
		"a part that ends early":    multi(early),
		"a whole one behind it":     multi(early, gone),
		"a part that is not there":  multi(gone, gone)[:len(gone)+4],
		"the number of parts alone": multi()[:3],
	} {
		if all, err := Parse(file(txn(1, 7, 1, Multi, rest...))); err == nil {
			t.Errorf("%s: %v", name, all)
		}
	}
}

// Two transactions that differ in anything but the client's number of the request are not the same.
func TestEqual(t *testing.T) {
	one := func(kind Kind, path string) Txn {
		return Txn{Zxid: 1, Session: 2, Time: 3, Kind: Multi, Changes: []Change{{Kind: kind, Path: path}}}
	}
	same := one(Delete, "/a")
	if same.Cxid = 4; !same.Equal(one(Delete, "/a")) {
		t.Error("a transaction is not the same as itself")
	}
	for name, change := range map[string]func(*Txn){
		"the zxid": func(t *Txn) { t.Zxid++ }, "the session": func(t *Txn) { t.Session++ },
		"the time": func(t *Txn) { t.Time++ },
		"the kind": func(t *Txn) { t.Kind++ }, "what was done": func(t *Txn) { t.Changes[0].Kind = SetData },
		"the node": func(t *Txn) { t.Changes[0].Path = "/b" }, "a part": func(t *Txn) { t.Changes = nil },
	} {
		other := one(Delete, "/a")
		change(&other)
		if same.Equal(other) || other.Equal(same) {
			t.Errorf("%s differs, and they are the same", name)
		}
	}
}
