package differential

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// logEntry is one record of ZooKeeper's transaction log: checksum, length, header and body, end mark.
func logEntry(zxid int64, kind int32, body enc) enc {
	txn := append(enc{}.i64(1).i32(0).i64(zxid).i64(1000).i32(kind), body...)
	entry := append(enc{}.i64(int64(adler32.Checksum(txn))).i32(int32(len(txn))), txn...)
	return append(entry, 'B')
}

// nearTheEnd returns the data directory of a server that has a node /q whose next child but two gets the last sequence
// number: no client could make two thousand million children, but the log can say that somebody did.
func nearTheEnd(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	logs := filepath.Join(dir, "data", "version-2")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	made := func(path string, counter int32) enc {
		return enc{}.str(path).i32(-1).acls([]acl{{31, "world", "anyone"}}).flag(false).i32(counter)
	}
	file := enc(binary.BigEndian.AppendUint32(nil, 0x5a4b4c47)).i32(2).i64(0) // "ZKLG", version, database
	file = append(file, logEntry(1, opCreate, made("/q", 1))...)
	file = append(file, logEntry(2, opCreate, made("/q/first", math.MaxInt32-2))...)
	if err := os.WriteFile(filepath.Join(logs, "log.1"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTheSequenceEndsAsOnTheRealServer walks both servers over the end of the counter, one create at a time.
func TestTheSequenceEndsAsOnTheRealServer(t *testing.T) {
	onReleases(t, func(t *testing.T, r release) {
		properties := []string{"zookeeper.snapshot.trust.empty=true"}
		apache, mem := r.start(t, realzk.Options{Dir: nearTheEnd(t), Properties: properties}, zkmem.Options{})
		for _, path := range []string{"/q", "/q/first"} {
			if _, err := mem.Create(path, nil, zkmem.Persistent); err != nil {
				t.Fatal(err)
			}
		}
		if err := mem.SetSequence("/q", math.MaxInt32-2); err != nil {
			t.Fatal(err)
		}
		var told [2]string
		for side, addr := range []string{apache.Addr(), mem.Addr()} {
			w := newWorld(addr)
			c := w.clients[0]
			c.connect(0, make([]byte, 16), 0, 30000, "me")
			var lines []string
			for _, name := range []string{"a-", "a-", "a-", "a-", "b-", "b-"} {
				body := enc{}.str("/q/" + name).i32(-1).acls([]acl{{31, "world", "anyone"}}).i32(3)
				lines = append(lines, withoutZxid(c.ask(opCreate, body)))
			}
			pair := enc{}
			for _, name := range []string{"c-", "d-"} {
				pair = append(pair.i32(opCreate).flag(false).i32(-1),
					enc{}.str("/q/"+name).i32(-1).acls([]acl{{31, "world", "anyone"}}).i32(3)...)
			}
			lines = append(lines, withoutZxid(c.ask(opMulti, pair.i32(-1).flag(true).i32(-1))))
			lines = append(lines, withoutZxid(c.ask(opGetChildren, enc{}.str("/q").flag(false))))
			told[side] = strings.Join(lines, "\n")
			w.end()
		}
		if told[0] != told[1] {
			t.Fatal(played{name: "creates past the end of /q's counter", real: told[0], mem: told[1]}.differs())
		}
		t.Log(told[0])
	})
}

func withoutZxid(lines []string) string {
	var xid, zxid int
	fmt.Sscanf(lines[0], "reply xid %d zxid %d", &xid, &zxid)
	return strings.Replace(strings.Join(lines, "\n"), fmt.Sprintf("xid %d zxid %d ", xid, zxid), "", 1)
}
