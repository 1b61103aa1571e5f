package txnlog

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// file returns a transaction log with these bodies.
func file(bodies ...[]byte) []byte {
	b := []byte("ZKLG")
	b = binary.BigEndian.AppendUint32(b, 2)
	b = binary.BigEndian.AppendUint64(b, 0)
	for _, body := range bodies {
		b = binary.BigEndian.AppendUint64(b, uint64(adler32.Checksum(body)))
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		b = append(append(b, body...), 'B')
	}
	return append(b, make([]byte, 64)...) // servers fill their files with zeros first
}

// txn returns the body of a transaction.
func txn(zxid, session int64, cxid, kind int32, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(session))
	b = binary.BigEndian.AppendUint32(b, uint32(cxid))
	b = binary.BigEndian.AppendUint64(b, uint64(zxid))
	b = binary.BigEndian.AppendUint64(b, 1_800_000_000_000)
	b = binary.BigEndian.AppendUint32(b, uint32(kind))
	return append(b, rest...)
}

func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

func TestParse(t *testing.T) {
	all, err := Parse(file(
		txn(1, 7, 0, CreateSession, 0, 0, 0x0f, 0xa0),
		txn(2, 7, 3, Delete, text("/a")...),
		txn(3, 7, 0, CloseSession),
	))
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if got := all[0]; got.Timeout != 4000 || got.Session != 7 || got.Time != 1_800_000_000_000 ||
		len(got.Changes) != 0 {
		t.Errorf("%+v", got)
	}
	if got := all[1]; got.Cxid != 3 || len(got.Changes) != 1 || got.Changes[0].Path != "/a" ||
		got.Changes[0].Kind != Delete {
		t.Errorf("%+v", got)
	}
	if got := all[2]; got.Cxid != 0 || got.Kind != CloseSession {
		t.Errorf("%+v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	if _, err := Parse([]byte("not a log at all")); err == nil || !strings.Contains(err.Error(), "no transaction log") {
		t.Error(err)
	}
	if _, err := Parse(file(txn(5, 1, 1, Delete, 0, 0, 0, 9))); err == nil || !strings.Contains(err.Error(), "0x5") {
		t.Error(err)
	}
	whole := file(txn(2, 7, 3, Delete, text("/a")...), txn(3, 7, 0, CloseSession))
	for cut := range whole {
		if _, err := Parse(whole[:cut]); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

// endless is a file of zeros behind some bytes.
type endless struct {
	head []byte
	read int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.read += len(b); e.read > 1<<20 {
		return 0, errors.New("too much is read")
	}
	clear(b)
	n := copy(b, e.head)
	e.head = e.head[n:]
	return len(b), nil
}

// Read reads no further than transactions go, whatever follows and whatever a length claims.
func TestReadStopsWhereTheTransactionsEnd(t *testing.T) {
	one := file(txn(2, 7, 3, Delete, text("/a")...))
	one = one[:len(one)-64]
	claims := func(length uint32) []byte {
		return binary.BigEndian.AppendUint32(append(slices.Clone(one), 1, 2, 3, 4, 5, 6, 7, 8), length)
	}
	for name, c := range map[string]struct {
		head []byte
		want int
	}{
		"zeros alone":              {nil, 0},
		"a header":                 {file()[:16], 0},
		"a transaction":            {one, 1},
		"a length of 2 GiB":        {claims(math.MaxInt32), 1},
		"a length of 64 MiB and 1": {claims(maxBody + 1), 1},
		"a length of zero":         {slices.Concat(one, []byte{7: 1}, []byte{4: 'B'}), 1}, // its sum is right
		"a length below zero":      {claims(1 << 31), 1},
	} {
		if all, err := Read(&endless{head: c.head}); err != nil || len(all) != c.want {
			t.Errorf("%s: %d transactions, want %d: %v", name, len(all), c.want, err)
		}
	}
	if _, err := Read(iotest.ErrReader(errors.New("the disk"))); err == nil || err.Error() != "the disk" {
		t.Error(err)
	}
}

func TestMerge(t *testing.T) {
	a, _ := Parse(file(txn(2, 7, 3, Delete, text("/a")...), txn(4, 7, 0, CloseSession)))
	b, _ := Parse(file(txn(3, 8, 1, Delete, text("/b")...), txn(2, 7, 3, Delete, text("/a")...)))
	all, err := Merge(a, b)
	if err != nil || len(all) != 3 || all[0].Zxid != 2 || all[1].Zxid != 3 || all[2].Zxid != 4 {
		t.Error(all, err)
	}
	other, _ := Parse(file(txn(3, 8, 1, Delete, text("/c")...)))
	if _, err := Merge(a, b, other); err == nil || !strings.Contains(err.Error(), "0x3") {
		t.Error(err)
	}
}
