package chaos

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// itemData returns a node's data with one item.
func itemData(text string) string {
	quoted := fmt.Sprintf("%q", text)
	return "\x00\x01\x00\x01\x01\x00\x00\x00" + string(rune(len(quoted))) + quoted + "\x02"
}

func itemPath(n int) string { return fmt.Sprintf("%s/queue-%010d", byQueue.items(), n) }
func lockPath(n int) string { return fmt.Sprintf("%s/queue-%010d", byQueue.places(), n) }

// threeItems tells of A, which puts three items, and B, which handles the first. The second fails, and goes to the dead
// letters. The third is handled by B, whose session ends before it can say so, and then by A.
func threeItems() *script {
	letters := machines.DeadLettersOf(byQueue.items())
	return &script{
		history: []txn{
			put(1, 1, itemPath(0), itemData("a:1")), put(1, 1, itemPath(1), itemData("a:2!")),
			put(2, 1, itemPath(2), itemData("a:3")),
			created(3, 2, lockPath(0), "x"), deleted(4, itemPath(0)), deleted(4, lockPath(0)),
			created(4, 2, lockPath(1), "x"), deleted(6, itemPath(1)), deleted(6, lockPath(1)),
			put(6, 2, letters+"/queue-0000000000", itemData("a:2!")),
			created(6, 2, lockPath(2), "x"), closed(8, 2), created(9, 1, lockPath(2), "y"), deleted(11, itemPath(2)),
			deleted(11, lockPath(2)),
		},
		clients: []client{
			{id: "a", beliefs: []belief{believed(3, 92, 105)}, done: []handled{{3, "a:3", 105 * second / 10}},
				writes: []write{{n: 1, fate: written}, {n: 2, fate: unknown}, {n: 3, fate: written},
					{n: 4, fate: unknown}, {n: 5, fate: refused}}},
			{id: "b", beliefs: []belief{believed(1, 32, 38), believed(2, 42, 58), believed(3, 62, 85)},
				done: []handled{{1, "a:1", 38 * second / 10}, {3, "a:3", 75 * second / 10}}},
		},
	}
}

func TestMadeUpItems(t *testing.T) {
	letters := machines.DeadLettersOf(byQueue.items())
	checkStories(t, byQueue, threeItems, map[string]madeUp{
		"all is well": {func(*script) {}, nil},
		"an item is put twice": {func(s *script) {
			s.also(put(2, 1, itemPath(3), itemData("a:3")), created(9, 1, lockPath(3), "y"), deleted(10, itemPath(3)),
				deleted(10, lockPath(3)))
			s.clients[0].done = append(s.clients[0].done, handled{4, "a:3", 9 * second})
		}, []string{"committed twice"}},
		"a put is lost": {func(s *script) {
			s.clients[0].writes[3].fate = written
		}, []string{"answered and not committed"}},
		"a refused put is there": {func(s *script) {
			s.clients[0].writes[0].fate = refused
		}, []string{"refused and committed"}},
		"an item that nobody put": {func(s *script) {
			s.clients[0].writes = s.clients[0].writes[1:]
		}, []string{"committed and never sent"}},
		"an item is left": {func(s *script) {
			s.without(11)
		}, []string{"left in the queue"}},
		"an item is deleted by another than the owner of its lock": {func(s *script) {
			s.without(4)
			s.also(deleted(4, itemPath(0)), deleted(5, lockPath(0)), created(4, 2, lockPath(1), "x"))
		}, []string{"ended without its lock", "handled, and its lock released"}},
		"an item ends, and no handler had returned": {func(s *script) {
			s.clients[1].done = s.clients[1].done[1:]
		}, []string{"lost"}},
		"an item ends before its handler returns": {func(s *script) {
			s.clients[1].done[0].at = 5 * second
		}, []string{"lost"}},
		"a dead letter is lost": {func(s *script) {
			s.without(6)
			s.also(deleted(6, itemPath(1)), deleted(6, lockPath(1)), created(6, 2, lockPath(2), "x"))
		}, []string{"lost"}},
		"a dead letter is there before its item ends": {func(s *script) {
			s.without(6)
			s.also(put(5, 2, letters+"/queue-0000000000", itemData("a:2!")), deleted(6, itemPath(1)),
				deleted(6, lockPath(1)), created(6, 2, lockPath(2), "x"))
		}, []string{"lost"}},
		"a dead letter that was no item": {func(s *script) {
			s.also(put(7, 2, letters+"/queue-0000000001", itemData("a:9")))
		}, []string{"a dead letter that was no item"}},
		"B releases the lock of what it has handled": {func(s *script) {
			s.without(8)
			s.also(deleted(8, lockPath(2)))
			s.clients[1].beliefs[2].to = 79 * second / 10
		}, []string{"handled, and its lock released"}},
		"A handles twice under one lock": {func(s *script) {
			s.clients[0].done = append(s.clients[0].done, handled{3, "a:3", 106 * second / 10})
		}, []string{"handled twice under one lock"}},
		"A handles what was never put": {func(s *script) {
			s.clients[0].beliefs[0].token = 9
			s.clients[0].done = append(s.clients[0].done, handled{9, "a:8", 9 * second})
		}, []string{"handled and never put", "handling what was never put"}},
		"B handles before its lock": {func(s *script) {
			s.clients[1].beliefs[1].from = 39 * second / 10
		}, []string{"handling without a lock"}},
		"A handles under B's lock, B being known by what it has put": {func(s *script) {
			s.also(put(2, 2, itemPath(7), itemData("b:1")))
			s.clients[1].writes = []write{{n: 1, fate: written}}
			s.clients[0].beliefs[0] = believed(1, 33, 36)
		}, []string{"handling without a lock", "left in the queue"}},
		"B handles after it has deleted the lock": {func(s *script) {
			s.clients[1].beliefs[0].to = 41 * second / 10
		}, []string{"handling after the lock was deleted"}},
		"B handles on after its session, and A begins": {func(s *script) {
			s.clients[1].beliefs[2].to = 95 * second / 10
		}, nil},
	})
	s := threeItems()
	s.clients[1].beliefs[2].to = 95 * second / 10
	if v := s.verdict(t, byQueue); v.dead != 1 || v.again != 1 || v.writes != 3 || v.refused != 1 ||
		len(v.overlap) != 1 {
		t.Errorf("counted %+v", v.ledger)
	}
}
