package machines

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// noteOwn notes which ephemeral nodes a machine knows to have made, with the transactions, until it knows that they are
// gone.
func (j *judge) noteOwn(r events.Record) {
	made, ev := j.facts[r.Machine].made, r.Event
	asked := j.asked[r.Machine][ev.Request]
	gone := func(is func(node string, zxid int64) bool) { maps.DeleteFunc(made, is) }
	switch ev.Kind {
	case events.ConnectionLost:
		clear(made)
	case events.WatchDeleted:
		delete(made, ev.Path)
	case events.ReplyCreate:
		if create, ok := asked.(events.Create); ok && ev.Code == events.OK && isEphemeral(create.Mode) {
			made[ev.Path] = ev.Zxid
		}
	case events.ReplyDelete:
		if request, ok := asked.(events.Delete); ok && (ev.Code == events.OK || ev.Code == events.NoNode) {
			delete(made, request.Path)
		}
	case events.ReplyStat:
		switch {
		case ev.Code == events.NoNode:
			gone(func(node string, _ int64) bool { return node == ev.Path || path.Dir(node) == ev.Path })
		case ev.Code == events.OK && ev.Stat != nil && j.session != nil:
			gone(func(node string, zxid int64) bool { // of another owner, or in a directory that is newer
				return node == ev.Path && ev.Stat.EphemeralOwner != j.session.id ||
					path.Dir(node) == ev.Path && ev.Stat.Czxid > zxid
			})
		}
	case events.ReplyChildren:
		if list, ok := asked.(events.Children); ok && (ev.Code == events.OK || ev.Code == events.NoNode) {
			gone(func(node string, _ int64) bool {
				return path.Dir(node) == list.Path && !slices.Contains(ev.Children, path.Base(node))
			})
		}
	case events.ReplyMulti:
		if multi, ok := asked.(events.Multi); ok {
			noteMulti(made, multi, ev)
		}
	}
}

// noteMulti notes what a multi made and deleted, or the node that it did not find.
func noteMulti(made map[string]int64, multi events.Multi, ev events.Event) {
	switch {
	case ev.Code == events.NoNode && len(multi.Ops) == 1:
		delete(made, multi.Ops[0].Path)
	case ev.Code == events.NoNode:
		delete(made, ev.Path)
	}
	if ev.Code != events.OK {
		return
	}
	created := ev.Children
	for _, op := range multi.Ops {
		switch {
		case op.Verb == "delete":
			delete(made, op.Path)
		case op.Verb == "create" && len(created) > 0:
			if isEphemeral(op.Mode) {
				made[created[0]] = ev.Zxid
			}
			created = created[1:]
		}
	}
}

func isEphemeral(mode events.Mode) bool {
	return mode == events.Ephemeral || mode == events.EphemeralSequential
}

// leftovers checks that a participant that has ended left no node: others would wait for it until the session ends.
// Nobody waits for a seal, so its deletion need not be answered.
func (j *judge) leftovers(id events.ID) {
	for node := range j.facts[id].made {
		if j.members[id] != nil && !strings.HasPrefix(path.Base(node), sealPrefix) {
			j.wrong("%s: it has ended, and left %s", id, node)
		}
	}
}
