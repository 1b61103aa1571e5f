package slogger

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// lines is a writer that hands on what it gets.
type lines chan []byte

func (l lines) Write(line []byte) (int, error) {
	l <- bytes.Clone(line)
	return len(line), nil
}

// A client logs through a handler: who leads, under which token and session.
func TestAClientLogsThroughIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	srv := zkmem.Start(t)
	out := make(lines, 1024)
	h := slog.NewJSONHandler(out, nil).WithAttrs([]slog.Attr{slog.String("service", "billing")}).WithGroup("incumbent")
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr(), Logger: New(h)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	latch, err := client.Latch("/line", incumbent.LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := latch.Start(); err != nil {
		t.Fatal(err)
	}
	held, err := latch.Await(ctx)
	if err != nil {
		t.Fatal(err)
	}
	held.Release()
	for {
		var line struct {
			Time       time.Time
			Level, Msg string
			Service    string
			Incumbent  struct {
				Path           string
				Token, Session int64
			}
		}
		select {
		case text := <-out:
			if err := json.Unmarshal(text, &line); err != nil {
				t.Fatal(err)
			}
		case <-ctx.Done():
			t.Fatal("nobody logged the term")
		}
		if line.Msg != "leading" {
			continue
		}
		of := line.Incumbent
		if line.Service != "billing" || line.Level != "INFO" || of.Path != "/line" || of.Token != held.Token() ||
			of.Session != 1 || line.Time.IsZero() {
			t.Errorf("logged %+v, want token %d in session 1", line, held.Token())
		}
		return
	}
}
