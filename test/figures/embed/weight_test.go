package embed

import (
	"os"
	"path/filepath"
	"testing"
)

// mostGrowth is by how many bytes a service on linux/amd64 may grow with its first latch.
const mostGrowth = 8_800_000

// service is a program with net/http..
const service = `package main

import (
	"log"
	"net/http"
)

func main() {
	begin()
	log.Fatal(http.ListenAndServe(":8080", nil))
}
`

// leads is a service's other file, with a latch.
const leads = `package main

import (
	"context"

	"github.com/incumbent-go/incumbent"
)

func begin() {
	ctx := context.Background()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: "localhost"})
	if err != nil {
		panic(err)
	}
	latch, err := client.Latch("/jobs/nightly", incumbent.LatchOptions{})
	if err != nil {
		panic(err)
	}
	go latch.Run(ctx, func(l *incumbent.Leadership) error { return l.Context().Err() })
}
`

func TestTheWeightOfALatch(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "amd64")
	size := func(begin string) int64 {
		dir := embedder(t, root, service)
		if err := os.WriteFile(filepath.Join(dir, "begin.go"), []byte(begin), 0o600); err != nil {
			t.Fatal(err)
		}
		command(t, dir, "go", "build", "-o", "service", ".")
		info, err := os.Stat(filepath.Join(dir, "service"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	without, with := size("package main\n\nfunc begin() {}\n"), size(leads)
	t.Logf("a service with net/http has %d bytes, and %d more with a latch", without, with-without)
	if grown := with - without; grown > mostGrowth {
		t.Errorf("a latch adds %d bytes to a service, at most %d", grown, mostGrowth)
	}
}
