package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The consumer: programs that take items out of one queue and deal with them, well or
// not. It shares its worlds with the producer.
func init() {
	roles = append(roles, &role{
		recipe: "consumer", home: goods, rooms: goodsRooms, lasts: lastsInQueue, most: 2, apart: true, abides: true, brief: true,
		options: func(u *user, _ *rand.Rand) map[string]string {
			u.bench = bench{locks: map[string]string{}, had: map[*item]*delivery{}, lists: map[uint64][]string{}, one: &delivery{}}
			q := u.c.w.shelve()
			q.consumers++
			return q.options()
		},
		data: func(u *user, payload uint64) []byte {
			if payload != u.bench.number {
				return nil
			}
			return u.bench.data
		},
		keep: func(u *user, ev events.Event) { u.bench.number, u.bench.data = ev.Request, ev.Data },
		told: toldConsumer, returns: (*user).judged, spot: (*user).shelf, unsettled: backlogged, tend: freeGoods,
		rests: []engine.State{"waiting", "latent", "closed", ""},
		wakes: map[engine.State]waking{
			"listing": answered, "settling": answered, "verifying": answered, "reading": answered, "taking": answered,
			"waiting": needs(1), "working": working, "pausing": timed,
		},
		plants: plantedConsumers,
	})
}

func toldConsumer(u *user, n events.Notify) {
	k, b := u.c.w.checks, &u.bench
	switch n.What {
	case events.Delivered:
		k.delivered(u, n)
		u.begin()
	case events.Withdrawn:
		b.one.withdrawn = true
		u.stop()
	case events.Failed:
		if i := u.c.w.stock.nodes[n.Path]; n.Code == events.ItemLost && i != nil {
			i.told = true
		}
		if n.Code == events.NoAuth && !u.c.w.calm && world.OneIn(u.dice(), 6) {
			u.close()
		}
	}
}

// judged is what the door makes of a handler's return.
func (u *user) judged(ev *events.Event) {
	one := u.bench.one
	if one.withdrawn || u.closing && world.OneIn(u.dice(), 2) {
		ev.Code = events.Cancelled
	}
	one.returned, one.well = true, ev.Text == ""
}

// shelf is a node that the consumer depends on: a lock of its own, or an item.
func (u *user) shelf() string {
	w := u.c.w
	var all []string
	for _, name := range w.ens.Children(goodsLocks) {
		if w.stock.lockers[goodsLocks+"/"+name] == u {
			all = append(all, goodsLocks+"/"+name, goods+"/"+name)
		}
	}
	for _, name := range w.stock.left(w) {
		if len(all) < 4 {
			all = append(all, goods+"/"+name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[w.Dice("shelf").IntN(len(all))]
}

// freeGoods takes away what stands below items, and the locks that came back with a backup, under sessions that go
// on and know nothing of them.
func freeGoods(w *harness) {
	if w.stock != nil {
		w.unburden()
		w.giveAccess("/app")
	}
	for _, name := range w.ens.Children(goodsLocks) {
		if path := goodsLocks + "/" + name; w.stock != nil && w.stock.void && w.stock.lockers[path] == nil {
			w.meddle(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
		}
	}
}

// backlogged says what is left to a consumer.
func backlogged(u *user) string {
	w := u.c.w
	if !slices.Contains(w.consumers(), u) {
		return ""
	}
	if items := w.stock.left(w); len(items) > 0 {
		return fmt.Sprintf("has items to deal with: %s", strings.Join(items, " "))
	}
	for path, locker := range w.stock.lockers {
		if locker == u {
			return "keeps the lock " + path
		}
	}
	return ""
}
