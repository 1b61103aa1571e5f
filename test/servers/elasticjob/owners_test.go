package elasticjob

import (
	"strconv"
	"sync"

	"github.com/go-zookeeper/zk"
)

// mostItems is more than any play has.
const mostItems = 10

// ownership is that an item belongs to an instance, from an instant on, in milliseconds since 1970.
type ownership struct {
	by    string
	since int64
}

// owners has the owners of each item, and since when, from the nodes that the leaders wrote.
type owners struct {
	mu  sync.Mutex
	all map[int][]ownership
}

// watchOwners notes the owners of all items until the test ends.
func (s *stage) watchOwners() {
	s.owners.all = map[int][]ownership{}
	conn := s.connect()
	var all sync.WaitGroup
	for item := range mostItems {
		all.Go(func() { s.owners.watch(conn, item, s.node("sharding", strconv.Itoa(item), "instance")) })
	}
	s.t.Cleanup(func() {
		conn.Close()
		all.Wait()
	})
}

// watch notes the owners of one item until the connection is closed.
func (o *owners) watch(conn *zk.Conn, item int, path string) {
	for {
		there, _, changed, err := conn.ExistsW(path)
		if err != nil {
			return
		}
		if data, stat, err := conn.Get(path); there && err == nil {
			o.note(item, ownership{string(data), stat.Ctime})
		}
		if e := <-changed; e.Err != nil || e.Type == zk.EventNotWatching {
			return
		}
	}
}

func (o *owners) note(item int, now ownership) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if all := o.all[item]; len(all) == 0 || all[len(all)-1] != now {
		o.all[item] = append(all, now)
	}
}

// own reports whether a run began while its item belonged to its instance.
func (o *owners) own(r run) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.all[r.item]
	for n, has := range all {
		over := n+1 < len(all) && all[n+1].since <= r.begin
		if has.by == r.by && has.since <= r.begin && !over {
			return true
		}
	}
	return false
}
