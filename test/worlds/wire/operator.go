package wire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// operate does what the plan says.
func (w *world) operate(ctx context.Context) {
	for _, a := range w.plan.acts {
		if !pause(ctx, time.Until(w.start.Add(a.at))) {
			return
		}
		w.tell("act: %s (%s, %s)", a.kind, w.clients[a.client].name, a.long)
		w.act(a)
	}
}

func (w *world) act(a act) {
	c := w.clients[a.client]
	if a.kind == deletePlace || a.kind == deleteDir || a.kind == createDir {
		_ = w.srv.Delete(activeNode)
		if member := w.child(machines.ShardMembers(shardsPath)); member != "" {
			_ = w.srv.Delete(member)
		}
	}
	switch a.kind {
	case deletePlace:
		if first := w.first(); first != "" {
			_ = w.srv.Delete(first)
		}
	case deleteDir:
		w.clear(watchedDir)
	case createDir:
		_, _ = w.srv.Create(watchedDir, nil, zkmem.Persistent)
	case expireSession:
		session := c.SessionID()
		w.truth.kill(session)
		w.srv.ExpireSession(session)
	case restart:
		w.srv.Stop()
		_ = w.srv.Restart()
	case holdLoop, standStill:
		c.holdLoop(a.long)
	case breakLink:
		c.breakNow()
	}
}

// first returns the node that is first in line, "" if there is none.
func (w *world) first() (path string) {
	w.srv.View(func(v *zkmem.View) {
		names := v.Children(lineDir)
		if len(names) > 0 {
			path = lineDir + "/" + slices.MinFunc(names, func(a, b string) int {
				return cmp.Compare(a[len(a)-10:], b[len(b)-10:])
			})
		}
	})
	return path
}

// child returns a child of a directory, "" if there is none.
func (w *world) child(dir string) (path string) {
	w.srv.View(func(v *zkmem.View) {
		if names := v.Children(dir); len(names) > 0 {
			path = dir + "/" + slices.Min(names)
		}
	})
	return path
}

// clear deletes a directory and what is in it, in one transaction each.
func (w *world) clear(dir string) {
	var names []string
	w.srv.View(func(v *zkmem.View) { names = v.Children(dir) })
	for _, name := range names {
		_ = w.srv.Delete(dir + "/" + name)
	}
	_ = w.srv.Delete(dir)
}

// change changes the nodes that clients watch, from time to time.
func (w *world) change(ctx context.Context) {
	for n := uint64(0); ; n++ {
		d := w.dice.named("change").about(n)
		if !pause(ctx, d.named("when").between(500*time.Millisecond, 4*time.Second)) || !w.storming() {
			return
		}
		w.changeOnce(d, n)
	}
}

func (w *world) changeOnce(d dice, n uint64) {
	switch d.named("what").below(6) {
	case 0, 1:
		_ = w.srv.Set(watchedOne, fmt.Append(nil, n))
	case 2:
		_ = w.srv.Delete(watchedOne)
	case 3:
		_, _ = w.srv.Create(watchedOne, nil, zkmem.Persistent)
	case 4:
		_, _ = w.srv.Create(fmt.Sprintf("%s/%d", watchedDir, n), nil, zkmem.Persistent)
	case 5:
		w.clear(watchedDir)
		_, _ = w.srv.Create(watchedDir, nil, zkmem.Persistent)
	}
}
