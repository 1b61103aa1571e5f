package txnlog

import (
	"encoding/binary"
	"hash/adler32"
	"strings"
	"testing"
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
	if got := all[0]; got.Timeout != 4000 || got.Session != 7 || got.Time != 1_800_000_000_000 || len(got.Changes) != 0 {
		t.Errorf("%+v", got)
	}
	if got := all[1]; got.Cxid != 3 || len(got.Changes) != 1 || got.Changes[0].Path != "/a" || got.Changes[0].Kind != Delete {
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
