package discovery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/discovery"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A cut of the connection leaves the node alone; a new session creates it again, and so does the end of one that an
// operator deleted. What a reader sees is counted.
func TestANodeIsKeptUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own, reader := w.open(), w.open()
		r := own.register(orders("a"))
		cache := reader.cache("orders")
		seen := 0
		go func() {
			for range cache.Watch(t.Context()) {
				seen++
			}
		}()
		synctest.Wait()
		czxid, version := w.stat("/discovery/orders/a")
		own.cut()
		pass(time.Minute)
		if now, written := w.stat("/discovery/orders/a"); now != czxid || written != version || seen != 1 {
			t.Errorf("after a cut: created in %d, written %d times, seen %d times; before: %d, %d",
				now, written, seen, czxid, version)
		}
		w.srv.ExpireSession(own.client.SessionID())
		pass(time.Minute)
		fine(t, r.WaitPresent(t.Context()))
		if now, _ := w.stat("/discovery/orders/a"); now <= czxid {
			t.Errorf("after an expiry: created in %d", now)
		}
		fine(t, w.srv.Delete("/discovery/orders/a"))
		pass(time.Minute)
		same(t, "listed after an operator's deletion", nodes(must(reader.List(t.Context(), "orders")).Instances), "a")
		same(t, "cached after an operator's deletion", nodes(cache.View().Instances), "a")
		fine(t, r.Close(t.Context()))
		fine(t, r.Close(t.Context()))
		pass(time.Second)
		same(t, "after the end", nodes(cache.View().Instances), "")
	})
}

// The node of another session is left alone until it goes, and the error says so.
func TestAnotherOwnersNodeIsToldAndLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		first, second := w.open(), w.open()
		first.register(orders("a"))
		czxid, _ := w.stat("/discovery/orders/a")
		r := must(second.Register(orders("a")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := r.WaitPresent(ctx)
		is(t, err, incumbent.ErrOccupied)
		is(t, err, context.DeadlineExceeded)
		is(t, r.Err(), incumbent.ErrOccupied)
		if now, version := w.stat("/discovery/orders/a"); now != czxid || version != 0 || r.Present() {
			t.Errorf("the other's node was touched: created in %d, before %d; version %d", now, czxid, version)
		}
		first.die() // its session ends after the timeout
		fine(t, r.WaitPresent(t.Context()))
		is(t, r.Err(), nil)
		if now, _ := w.stat("/discovery/orders/a"); now <= czxid {
			t.Errorf("created in %d", now)
		}
		_, err = second.Register(orders("a"))
		is(t, err, incumbent.ErrNodeTaken)
	})
}

// Instances of one sequential id have nodes of their own, whose names stay in every session.
func TestSequentialInstances(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		i := orders("q-")
		i.Type = discovery.DynamicSequential
		first, second := own.register(i), own.register(i)
		for _, r := range []*discovery.Registration{first, second} {
			digits := strings.TrimPrefix(r.Node(), "q-")
			if len(digits) != 10 || digits <= "2147483647" || strings.Trim(digits, "0123456789") != "" {
				t.Errorf("the node's name is %s: want ten digits that no server gives", r.Node())
			}
		}
		want := nodes(must(own.List(t.Context(), "orders")).Instances)
		own.cut()
		pass(time.Second)
		w.srv.ExpireSession(own.client.SessionID())
		pass(time.Minute)
		found := must(own.List(t.Context(), "orders")).Instances
		if nodes(found) != want || len(found) != 2 || found[0].ID != "q-" || found[0].Owner != own.client.SessionID() {
			t.Errorf("after a cut and an expiry: %+v, want %s", found, want)
		}
		fine(t, first.Close(t.Context()))
		same(t, "one closed", nodes(must(own.List(t.Context(), "orders")).Instances), second.Node())
	})
}

// An update replaces the data of the same instance only, and what is not given stays.
func TestUpdates(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		r := own.register(discovery.Instance{Service: "orders", Port: 1})
		id := r.Instance().ID
		same(t, "length of a UUID", len(id), 36)
		fine(t, r.Update(t.Context(), discovery.Instance{Port: 2, Disabled: true}))
		found := must(own.Get(t.Context(), "orders", id))
		began := r.Instance().Registered
		if found.Port != 2 || !found.Disabled || found.ID != id || began.IsZero() || !found.Registered.Equal(began) {
			t.Errorf("updated to %+v", found)
		}
		for _, other := range []discovery.Instance{{ID: "b"}, {Service: "b"}, {Type: discovery.Static}, {Port: -1}} {
			is(t, r.Update(t.Context(), other), discovery.ErrInstance)
		}
		own.refuse(true)
		own.cut()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		is(t, r.Update(ctx, discovery.Instance{Port: 3}), context.DeadlineExceeded)
		own.refuse(false)
		pass(time.Minute)
		same(t, "port, after an outage", must(own.Get(t.Context(), "orders", id)).Port, 3)
		fine(t, r.Close(t.Context()))
		is(t, r.Update(t.Context(), discovery.Instance{}), incumbent.ErrClosed)
		is(t, r.WaitPresent(t.Context()), incumbent.ErrClosed)
	})
}

// A static instance outlives its process, and is written and deleted only while no session has the node.
func TestStaticInstances(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own, other := w.open(), w.open()
		i := orders("s")
		i.Type = discovery.Permanent
		fine(t, own.WriteStatic(t.Context(), i))
		i.Port, i.Type = 2, ""
		fine(t, other.WriteStatic(t.Context(), i))
		fine(t, own.Close(t.Context()))
		fine(t, own.client.Close(t.Context()))
		found := must(other.Get(t.Context(), "orders", "s"))
		if found.Port != 2 || found.Type != discovery.Static || found.Owner != 0 {
			t.Errorf("found %+v", found)
		}
		fine(t, other.DeleteStatic(t.Context(), "orders", "s"))
		fine(t, other.DeleteStatic(t.Context(), "orders", "s"))
		_, err := other.Get(t.Context(), "orders", "s")
		is(t, err, incumbent.ErrNoNode)

		third := w.open()
		third.register(orders("d"))
		i = orders("d")
		i.Type = discovery.Static
		is(t, other.WriteStatic(t.Context(), i), incumbent.ErrOccupied)
		is(t, other.DeleteStatic(t.Context(), "orders", "d"), incumbent.ErrOccupied)
		same(t, "what stays", nodes(must(other.List(t.Context(), "orders")).Instances), "d")
		i.ID = ""
		is(t, other.WriteStatic(t.Context(), i), discovery.ErrInstance)
		i.ID, i.Type = "b", discovery.Dynamic
		is(t, other.WriteStatic(t.Context(), i), discovery.ErrInstance)
		_, err = other.Register(discovery.Instance{Service: "a", Type: discovery.Static})
		is(t, err, discovery.ErrInstance)
	})
}

// A static node that somebody writes between the read and the write is not overwritten.
func TestAStaticNodeWrittenMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		i := orders("s")
		i.Type = discovery.Static
		fine(t, own.WriteStatic(t.Context(), i))
		defer w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti {
				go func() { _ = w.srv.Set("/discovery/orders/s", []byte("{}")) }()
				return zkmem.Verdict{Delay: time.Second}
			}
			return zkmem.Verdict{}
		})()
		is(t, own.WriteStatic(t.Context(), i), incumbent.ErrBadVersion)
		is(t, own.DeleteStatic(t.Context(), "orders", "s"), incumbent.ErrBadVersion)
	})
}

// One unreadable node spoils nothing, and is named.
func TestUnreadableNodesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		own.register(orders("a"))
		cache := own.cache("orders")
		_ = must(w.srv.Create("/discovery/orders/junk", []byte("junk"), zkmem.Persistent))
		hidden := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Path == "/discovery/orders/secret" {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}
			}
			return zkmem.Verdict{}
		})
		defer hidden()
		_ = must(w.srv.Create("/discovery/orders/secret", must(orders("secret").Encode()), zkmem.Persistent))
		pass(time.Second)
		listed := must(own.List(t.Context(), "orders"))
		for what, view := range map[string]discovery.View{"list": listed, "cache": cache.View()} {
			if nodes(view.Instances) != "a" || len(view.Unreadable) != 2 {
				t.Fatalf("%s: %+v", what, view)
			}
			junk, secret := view.Unreadable[0], view.Unreadable[1]
			is(t, junk, discovery.ErrUnreadable)
			is(t, secret, incumbent.ErrNoAuth)
			if junk.Node != "junk" || !strings.Contains(junk.Error(), `"junk" of service "orders": invalid character`) {
				t.Errorf("%s: %v", what, junk)
			}
		}
		_, err := own.Get(t.Context(), "orders", "junk")
		if u := new(discovery.UnreadableError); !errors.As(err, &u) {
			t.Errorf("Get: %v", err)
		}
		fine(t, w.srv.Set("/discovery/orders/junk", must(orders("junk").Encode())))
		pass(time.Second)
		same(t, "after it was mended", nodes(cache.View().Instances), "a junk")
		same(t, "unreadable after it was mended", len(cache.View().Unreadable), 1)
	})
}

// Names and paths that ZooKeeper does not take, and calls after Close.
func TestMisuse(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own := w.open()
		for _, base := range []string{"", "/", "discovery", "/a/", "/a//b", "/../b"} {
			_, err := discovery.New(own.client, base)
			is(t, err, discovery.ErrInstance)
		}
		ctx := t.Context()
		_, err := own.List(ctx, "a/b")
		is(t, err, discovery.ErrInstance)
		_, err = own.Get(ctx, "a", "")
		is(t, err, discovery.ErrInstance)
		_, err = own.Cache("", discovery.CacheOptions{})
		is(t, err, discovery.ErrInstance)
		_, err = own.Cache("a", discovery.CacheOptions{MaxInstances: -1})
		is(t, err, discovery.ErrInstance)
		is(t, own.DeleteStatic(ctx, ".", "a"), discovery.ErrInstance)
		_, err = own.Register(discovery.Instance{})
		is(t, err, discovery.ErrInstance)
		same(t, "services of no directory", len(must(own.Services(ctx))), 0)
		if v := must(own.List(ctx, "none")); v.Instances != nil || v.Service != "none" {
			t.Errorf("a service without a directory: %+v", v)
		}
		own.register(orders("a"))
		own.register(discovery.Instance{Service: "billing"})
		same(t, "services", strings.Join(must(own.Services(ctx)), " "), "billing orders")
		fine(t, own.Close(ctx))
		fine(t, own.Close(ctx))
		_, err = own.Register(orders("b"))
		is(t, err, incumbent.ErrClosed)
		_, err = own.Cache("orders", discovery.CacheOptions{})
		is(t, err, incumbent.ErrClosed)
		same(t, "after Close", len(must(own.List(ctx, "orders")).Instances), 0)
		for _, err := range own.Watch(ctx, "orders") {
			is(t, err, incumbent.ErrClosed)
		}
	})
}

// Close without a connection returns with the context, and the nodes are deleted after the next one: of many, too.
func TestCloseGoesOnInTheBackground(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		own, reader := w.open(), w.open()
		const many = 100
		for range many {
			own.register(discovery.Instance{Service: "orders"})
		}
		own.refuse(true)
		own.cut()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		is(t, own.Close(ctx), context.DeadlineExceeded)
		same(t, "meanwhile", len(must(reader.List(t.Context(), "orders")).Instances), many)
		own.refuse(false)
		fine(t, own.client.WaitConnected(t.Context()))
		pass(time.Second)
		same(t, "after the connection", len(must(reader.List(t.Context(), "orders")).Instances), 0)
		fine(t, own.Close(t.Context()))
	})
}
