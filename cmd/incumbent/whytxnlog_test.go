//go:build unix

package main_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

// A transaction log may be gzipped, and have the number of its server before its name. An error says what is there.
func TestWhyReadsTransactionLogsThatWereCollected(t *testing.T) {
	one := filepath.Join(handOver(t), "one.log")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("ZKLG\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"log.1.gz", "1-log.100000001.gz", "2-log.1"} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, name), packed.Bytes())
		start(t, nil, "why", one, "--txnlog", dir).Exits(0)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "snapshot.3"), packed.Bytes())
	torn := filepath.Join(dir, "torn.gz")
	writeFile(t, torn, packed.Bytes()[:5])
	checkWhy(t, []whyCase{
		{[]string{one, "--txnlog", dir}, 66, "it has \"snapshot.3, torn.gz\""},
		{[]string{one, "--txnlog", torn}, 2, "torn.gz"},
	})
}

// A gzipped transaction log that is damaged is read up to there: that is said, and nothing is proven any more.
func TestWhyReadsADamagedTransactionLogUpToTheDamage(t *testing.T) {
	from := filepath.Join("..", "..", "test", "servers", "incidents", "testdata", "two",
		"killed-and-next-at-a-stopped-server")
	files, err := filepath.Glob(filepath.Join(from, "txnlog", "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "log.1.gz")
	writeFile(t, cut, whole[:len(whole)/2])
	p := start(t, nil, "why", from, "--no-replay", "--txnlog", cut).Exits(5)
	programtest.Contains(t, p.Err.String(), "log.1.gz\" is damaged: unexpected EOF; it is read up to there")
	programtest.Contains(t, p.Out.String(), "a transaction log is damaged: what follows was not read")
}

// If the logs do not show all, and transaction logs are near them, a note says what to add.
func TestWhySaysWhereTransactionLogsAre(t *testing.T) {
	dir := handOver(t)
	near := filepath.Join(dir, "txnlog")
	if err := os.Mkdir(near, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(near, "1-log.1"), []byte("ZKLG\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00"))
	p := start(t, nil, "why", filepath.Join(dir, "two.log")).Exits(5)
	programtest.Contains(t, p.Err.String(), "were not read: add --txnlog "+near)
	if p := start(t, nil, "why", filepath.Join(dir, "two.log"), "--txnlog", near).Exits(5); p.Err.String() != "" {
		t.Errorf("it says %q although they were read", p.Err.String())
	}
}
