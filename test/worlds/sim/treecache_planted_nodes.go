package sim

import (
	"fmt"
	"reflect"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// pointer returns a field that holds a pointer, so that a plant can look behind it.
func pointer(v reflect.Value, name string) any {
	f := v.FieldByName(name)
	if !f.IsValid() || f.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("sim: %s has no pointer %s to tamper with", v.Type(), name))
	}
	return reflect.NewAt(f.Type().Elem(), f.UnsafePointer()).Interface()
}

// treeNode returns a node as a cache keeps it, nil where the cache knows none at the path.
func treeNode(model any, path string) any {
	return nodeBelow(pointer(reflect.ValueOf(model).Elem(), "root"), path)
}

func nodeBelow(node any, path string) any {
	if *field[string](node, "path") == path {
		return node
	}
	kids := slice(node, "children")
	for i := range kids.Len() {
		if found := nodeBelow(kids.Index(i).Interface(), path); found != nil {
			return found
		}
	}
	return nil
}

// treeReading returns the nodes of which a cache awaits an answer, by request.
func treeReading(model any) map[uint64]any {
	all, inFlight := map[uint64]any{}, slice(model, "inFlight")
	for i := range inFlight.Len() {
		node := pointer(inFlight.Index(i), "of")
		all[*field[uint64](part(node, lookOf(inFlight.Index(i))), "request")] = node
	}
	return all
}

// lookOf returns the name of the part of a node that a read is about.
func lookOf(read reflect.Value) string {
	if read.FieldByName("listing").Bool() {
		return "below"
	}
	return "self"
}

// part returns a part of a model, to be changed.
func part(model any, name string) any {
	v := reflect.ValueOf(model).Elem().FieldByName(name)
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface()
}

// notListed takes back that a node's children are to be listed.
func notListed(model, node any) {
	due := slice(model, "due")
	kept := reflect.MakeSlice(due.Type(), 0, due.Len())
	for i := range due.Len() {
		if r := due.Index(i); lookOf(r) == "below" &&
			r.FieldByName("of").UnsafePointer() == reflect.ValueOf(node).UnsafePointer() {
			*field[bool](part(node, "below"), "due") = false
			continue
		}
		kept = reflect.Append(kept, due.Index(i))
	}
	due.Set(kept)
}

// plantedTreeNodes are bugs in what a cache keeps of one node.
var plantedTreeNodes = []Plant{
	treeAction("a change while its node is being read is forgotten", "noteWatch",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			for _, node := range treeReading(model) {
				if *field[string](node, "path") == ev.Path {
					return
				}
			}
			do(ev)
		}),
	treeAction("a watch that a deletion has spent is taken to stand", "noteWatch",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			do(ev)
			if node := treeNode(model, ev.Path); node != nil {
				*field[bool](node, "deleted") = false
			}
		}),
	treeAction("another node at the path keeps the children of the first", "noteData",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			node := treeReading(model)[ev.Request]
			had := length(node, "children") > 0
			do(ev)
			if had {
				notListed(model, node)
			}
		}),
	treeAction("what was under way at the end of a connection is waited for", "noteGap",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			flying := slice(model, "inFlight")
			under := reflect.AppendSlice(reflect.MakeSlice(flying.Type(), 0, 0), flying)
			do(ev)
			flying.Set(under)
		}),
	inTree("a node that has left the cache comes back with a late answer", func() mutate.Mutation {
		return withGuard("nodeDropped", never)
	}),
}
