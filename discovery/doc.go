// Package discovery registers the instances of services and finds them, on the nodes of Curator's x-discovery 5.9: Go
// and Java programs find each other. An instance is a node BASE/SERVICE/ID, whose data say in JSON where it listens.
//
//	services, err := discovery.New(client, "/discovery")
//	own, err := services.Register(discovery.Instance{Service: "orders", Address: "10.0.0.7", Port: 8080})
//	orders, err := services.Cache("orders", discovery.CacheOptions{})
//	provider, err := orders.Provider(discovery.ProviderOptions{})
//	found, err := provider.Pick()
//
// What is different from Curator: a reconnect of the same session leaves a registered node alone, where Curator
// deletes and creates it; the node is created again in a new session, and after somebody deleted it; another session's
// node is not deleted, Err says so; one node that cannot be read spoils nothing, and is named; a cached answer says
// how old it is while there is no connection; and "enabled" is written. Nothing here proves that an instance is alive:
// a node stays for up to a session timeout after its process has died.
//
// A payload is JSON, which is kept as it is. What others wrote is foreign: the "@class" of Java's payloads, too, is
// data, and never becomes a type.
package discovery

import (
	"errors"
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// The errors of this package, in addition to those of the package incumbent. Test for them with errors.Is.
var (
	// ErrNoInstance: no instance can be picked. The text says how many there are, and why each is out.
	ErrNoInstance = errors.New("discovery: no instance")
	// ErrTooOld: the cache has been without the ensemble for longer than ProviderOptions.MaxAge.
	ErrTooOld = errors.New("discovery: the cache is too old")
	// ErrUnreadable: a node does not hold an instance. The error is an *UnreadableError.
	ErrUnreadable = errors.New("discovery: not an instance")
	// ErrInstance: an instance, or the name of a service, cannot be written. The text says what would be right.
	ErrInstance = errors.New("discovery: bad instance")
	// ErrTooMany: the cache has read more nodes than CacheOptions.MaxInstances, and has ended.
	ErrTooMany = errors.New("discovery: more instances than the cache may hold")
)

// UnreadableError is a node that is no instance, or that cannot be read.
type UnreadableError struct {
	Service, Node string // the names of the directory and of the node, which is foreign: escape it before showing it
	Err           error  // why
}

// Error names the node and says why it cannot be used.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("discovery: node %s of service %s: %v", quote(e.Node), quote(e.Service), e.Err)
}

// Unwrap returns ErrUnreadable and the reason, such as incumbent.ErrNoAuth.
func (e *UnreadableError) Unwrap() []error { return []error{ErrUnreadable, e.Err} }

// quote returns a foreign name in quotes, shortened.
func quote(name string) string { return events.Quote(name, events.MaxName) }

// bad returns an ErrInstance.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInstance, fmt.Sprintf(format, args...))
}

// checkName returns what is wrong with the name of a service or of an instance.
func checkName(what, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return bad("%s %s: want a name without a slash, as in orders", what, quote(name))
	}
	return nil
}
