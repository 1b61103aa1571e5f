package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// Command is what the driver asks of a process of clients.
type Command struct {
	Do       string // "open", "join", "release", "leave", "look"
	Servers  string
	Sessions int    // open: how many
	Pattern  string // join: the path of session i, by fmt; without a verb all share one
	First    int    // join: the number of the first session in the pattern
}

// Look is the answer to every command.
type Look struct {
	Err       string
	Connected int
	Waiting   int // in line, not first
	Leading   int
	Traffic   Traffic
	CPU, RSS  int64 // filled in by the driver: nanoseconds, bytes
}

// worker is a process with many clients.
type worker struct {
	traffic traffic
	clients []*incumbent.Client
	latches []*incumbent.Latch
}

// work answers commands until the input ends.
func work() error {
	w := &worker{}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for in.Scan() {
		var c Command
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return err
		}
		answer := w.look()
		if err := w.do(c); err != nil {
			answer.Err = err.Error()
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return in.Err()
}

func (w *worker) do(c Command) error {
	switch c.Do {
	case "open":
		return w.open(c)
	case "join":
		return w.join(c)
	case "release":
		return w.release()
	case "leave":
		return w.leave()
	case "look":
		return nil
	}
	return fmt.Errorf("no command %q", c.Do)
}

// open makes clients. It does not wait until they are connected.
func (w *worker) open(c Command) error {
	for range c.Sessions {
		client, err := incumbent.Open(context.Background(), incumbent.Config{
			Servers: c.Servers, SessionTimeout: sessionTimeout, Tick: tick, ACL: incumbent.WorldAll(),
			Dial: w.traffic.dial,
		})
		if err != nil {
			return err
		}
		w.clients = append(w.clients, client)
	}
	return nil
}

// join starts a latch for each client.
func (w *worker) join(c Command) error {
	w.latches = w.latches[:0]
	for i, client := range w.clients {
		path := c.Pattern
		if strings.Contains(path, "%") {
			path = fmt.Sprintf(c.Pattern, c.First+i)
		}
		latch, err := client.Latch(path, incumbent.LatchOptions{})
		if err != nil {
			return err
		}
		if err := latch.Start(); err != nil {
			return err
		}
		w.latches = append(w.latches, latch)
	}
	return nil
}

// release closes a latch that leads. The next one of its line may lead before Close returns.
func (w *worker) release() error {
	for _, latch := range w.latches {
		if latch.HasLeadership() {
			return latch.Close(context.Background())
		}
	}
	return nil
}

// leave closes all latches.
func (w *worker) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := make(chan error, len(w.latches))
	var all sync.WaitGroup
	for _, latch := range w.latches {
		all.Go(func() { errs <- latch.Close(ctx) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	w.latches = nil
	return nil
}

func (w *worker) look() Look {
	l := Look{Traffic: w.traffic.read()}
	for _, client := range w.clients {
		if state := client.Connection(); state == incumbent.Connected || state == incumbent.Reconnected {
			l.Connected++
		}
	}
	for _, latch := range w.latches {
		switch latch.Phase() {
		case "waiting":
			l.Waiting++
		case "leading":
			l.Leading++
		}
	}
	return l
}
