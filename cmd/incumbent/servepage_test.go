//go:build unix

package main_test

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func TestServe(t *testing.T) {
	dir := handOver(t)
	p := start(t, nil, "serve", dir)
	p.Prints("http://127.0.0.1:")
	url := strings.TrimSpace(p.Out.String())
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(b), "<!doctype html>") {
		t.Errorf("%v %v %.200s", err, res, b)
	}
	// A page of a few thousand logs names all of them.
	have := strings.Repeat("20261124T234822.000000Z-host-7.123,", 4000)
	if status, said, _ := said(t, request(t, "HEAD", url+"events", "", "Last-Event-ID", have)); status !=
		http.StatusOK {
		t.Errorf("%d %.200s", status, said)
	}
	http.DefaultClient.CloseIdleConnections()
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
	programtest.Contains(t, p.Err.String(),
		`Not read: "notes.txt", "one.log", "two.log" (not named as a client names its segments)`)

	programtest.Contains(t, start(t, nil, "serve").Exits(64).Err.String(), "needs a DIR")
	programtest.Contains(t, start(t, nil, "serve", dir, "--listen", "8080").Exits(64).Err.String(),
		"--listen takes an address")
	for _, host := range []string{"ops:8080", "", "http://ops", "a b", "*.example.com"} {
		programtest.Contains(t, start(t, nil, "serve", dir, "--host", host).Exits(64).Err.String(),
			"--host takes a name")
	}
	programtest.Contains(t, start(t, nil, "serve", dir+"/missing").Exits(66).Err.String(), "no such file")
	programtest.Contains(t, start(t, nil, "serve", dir, "--listen", "192.0.2.1:8080").Exits(69).Err.String(),
		"--listen: ")
}
