// Package virtual runs tests in synctest bubbles whose virtual time is bounded. A
// test that waits for a wake-up which was lost would wait for ever, because the
// heartbeats of a session keep virtual time moving: synctest sees no deadlock. Here
// such a test ends within seconds, and says where it waits and what happened last.
package virtual

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Bound is how much virtual time a test may take, unless it says more with Within.
const Bound = 12 * time.Hour

// Test runs a test in a bubble, for at most Bound of virtual time.
func Test(t *testing.T, test func(*testing.T)) {
	t.Helper()
	Within(t, Bound, test)
}

// Within runs a test in a bubble, for at most this much virtual time.
func Within(t *testing.T, bound time.Duration, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		watchdog := time.AfterFunc(bound, func() { panic(report(t, bound)) })
		t.Cleanup(func() { // the last cleanup: one that hangs is found, too
			watchdog.Stop()
			logs.Delete(t)
		})
		test(t)
	})
}

// realYear is in the past of every machine. In a bubble it is in the future, as time begins in 2000 there.
const realYear = 2020

// Sleep lets d of virtual time pass. It panics outside a bubble, where the time would be real.
func Sleep(d time.Duration) {
	if time.Now().Year() >= realYear {
		panic("virtual: Sleep is for bubbles only: wait for the event itself")
	}
	time.Sleep(d)
}

// logs are the functions of Log, by test.
var logs sync.Map // testing.TB → *list

type list struct {
	mu  sync.Mutex
	all []func() string
}

// Log has the end of a log printed if the test makes no progress. Outside a bubble
// of this package it does nothing that is seen.
func Log(t testing.TB, end func() string) {
	entry, known := logs.LoadOrStore(t, &list{})
	if !known {
		t.Cleanup(func() { logs.Delete(t) })
	}
	l := entry.(*list)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, end)
}

// report says where the test waits, and what happened last. The watchdog panics
// with it: the test's own goroutine, which waits, is the only one that could fail it.
func report(t testing.TB, bound time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: no progress for %s of virtual time\n", t.Name(), bound)
	if entry, known := logs.Load(t); known {
		l := entry.(*list)
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, end := range l.all {
			fmt.Fprintf(&b, "\nthe last events of log %d of %d:\n%s", i+1, len(l.all), end())
		}
	}
	fmt.Fprintf(&b, "\nwhere the test's goroutines wait:\n%s", waits())
	return b.String()
}

// waits returns the stacks of the goroutines of this bubble that are in a test's code.
func waits() string {
	buf := make([]byte, 1<<20)
	stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	bubble := bubbleOf(stacks[0]) // the watchdog's own stack is the first
	var mine []string
	for _, stack := range stacks[1:] {
		calls, _, _ := strings.Cut(stack, "\ncreated by ")
		if bubbleOf(stack) == bubble && strings.Contains(calls, "_test.go:") &&
			!strings.Contains(calls, "synctest.Run(") {
			mine = append(mine, stack)
		}
	}
	return strings.Join(mine, "\n\n")
}

// bubbleOf returns "synctest bubble 7]:", the end of the first line of a stack.
func bubbleOf(stack string) string {
	first, _, _ := strings.Cut(stack, "\n")
	_, bubble, _ := strings.Cut(first, "synctest bubble ")
	return bubble
}
