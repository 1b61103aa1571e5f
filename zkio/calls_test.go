package zkio_test

import (
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A request that zk.Conn does not write because of its path says so, whatever its kind.
func TestEveryRequestWithAnInvalidPathSaysWhyItWasNotSent(t *testing.T) {
	const path = "/a//b"
	r, _ := attachedRig(t, zkmem.Start(t))
	for name, request := range map[string]func(events.Call) events.Request{
		"create": func(c events.Call) events.Request {
			return events.Create{Call: c, Path: path, Mode: events.Ephemeral}
		},
		"delete":   func(c events.Call) events.Request { return events.Delete{Call: c, Path: path} },
		"get":      func(c events.Call) events.Request { return events.Get{Call: c, Path: path} },
		"exists":   func(c events.Call) events.Request { return events.Exists{Call: c, Path: path} },
		"children": func(c events.Call) events.Request { return events.Children{Call: c, Path: path} },
		"sync":     func(c events.Call) events.Request { return events.Sync{Call: c, Path: path} },
	} {
		if got := r.ask(request(r.call())); got.Code != events.NotSent || got.Text != "not a valid path" ||
			got.SentAt != 0 {
			t.Errorf("%s: %s %q, sent at %d", name, got.Code, got.Text, got.SentAt)
		}
	}
}

// The data of a reply that the caller wants for itself go to Config.Keep, just before the event, and are not in it.
func TestDataThatTheCallerKeepsAreNotInTheEvent(t *testing.T) {
	type keptData struct {
		id      events.ID
		request uint64
		data    string
	}
	srv := zkmem.Start(t)
	srv.Create("/n", []byte("mine"), zkmem.Persistent)
	kept := make(chan keptData, 4)
	r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Keep: func(id events.ID, request uint64, part zkio.Kept) {
		kept <- keptData{id, request, string(part.Data)}
	}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	own, forUser := r.call(), r.call()
	forUser.Keep = true
	if got := r.ask(events.Get{Call: own, Path: "/n", Data: true}); string(got.Data) != "mine" {
		t.Errorf("for the machine: %+v", got)
	}
	if got := r.ask(events.Get{Call: forUser, Path: "/n", Data: true}); got.Data != nil || got.Stat == nil ||
		got.Code != events.OK {
		t.Errorf("for the user: %+v", got)
	}
	close(kept)
	var all []keptData
	for k := range kept {
		all = append(all, k)
	}
	if want := []keptData{{machine, forUser.Request, "mine"}}; !slices.Equal(all, want) {
		t.Errorf("kept: %+v, want %+v", all, want)
	}
}
