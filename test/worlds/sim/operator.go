package sim

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// shared are the directories in which recipes queue together.
var shared = []string{"/app/line0", "/app/line1", "/deep"}

// lines returns the directories in which nodes queue: those that the recipes share,
// then the own directories that the world uses.
func (w *harness) lines() []string {
	all := slices.Clone(shared[:w.Lines])
	for _, dir := range w.OwnDirs {
		all = append(all, subdirsOf(dir)...)
	}
	return all
}

func (w *harness) anyLine(d *rand.Rand) string {
	all := w.lines()
	return all[d.IntN(len(all))]
}

// anyPlace returns a random node of a random line, the first ones more often.
func (w *harness) anyPlace(d *rand.Rand) string {
	dir := w.anyLine(d)
	if names := w.ens.Children(dir); !slices.Contains(shared, dir) {
		if len(names) == 0 {
			return ""
		}
		return dir + "/" + names[d.IntN(len(names))]
	}
	label := w.anyLabel(d)
	line, _ := machines.Line(w.ens.Children(dir), label)
	if len(line) == 0 {
		return ""
	}
	return dir + "/" + line[min(d.IntN(len(line)), d.IntN(len(line)))].Name
}

// anyLabel returns a role's label, by the roles' shares of the lines.
func (w *harness) anyLabel(d *rand.Rand) string { return drawRole(d).line.label }

// operatorFault has an operator change nodes of others. In a healed world operators give
// the right to read a node back before they delete it: servers do not tell of the end of a
// node that nobody may read, so its watcher would wait until its next connection.
func (w *harness) operatorFault(op zkmem.Op) {
	w.checks.othersChanged = true
	if w.healed && op.Code == zkmem.OpDelete && w.checks.unreadable[op.Path] {
		w.giveAccess(op.Path)
	}
	w.ens.Operate(op)
}

func (w *harness) deletePlace(d *rand.Rand) bool {
	path := w.anyPlace(d)
	if path == "" {
		return false
	}
	w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
	return true
}

func (w *harness) deleteLine(d *rand.Rand) bool {
	dir := w.anyLine(d)
	return w.deleteTree(dir)
}

// deleteTree deletes a node with everything below it.
func (w *harness) deleteTree(dir string) bool {
	if !w.ens.Committed().Exists(dir) {
		return false
	}
	for _, name := range w.ens.Children(dir) {
		w.deleteTree(dir + "/" + name)
	}
	w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: dir, Version: zkmem.AnyVersion})
	return true
}

func (w *harness) setData(d *rand.Rand) bool { return w.touchData(w.anyPlace(d)) }

// touchData sets a node's data to what they are.
func (w *harness) touchData(path string) bool {
	if path == "" {
		return false
	}
	data, _, _ := w.ens.Committed().Get(path)
	w.ens.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: path, Data: data, Version: zkmem.AnyVersion})
	return true
}

func (w *harness) foreignChild(d *rand.Rand) bool {
	names := []string{"0", "lock-abc", "latch-", "_c_short", "_c_x-latch-000000001", "note", "latch-99",
		"_c_00000000-0000-0000-0000-000000000000-read-0000000000"}
	w.ens.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: w.anyLine(d) + "/" + names[d.IntN(len(names))],
		ACL: zkmem.OpenACL()})
	return true
}

// persistentChild creates a persistent node in a line. It stays until an operator
// deletes it, here after a while.
func (w *harness) persistentChild(d *rand.Rand) bool {
	dir := w.anyLine(d)
	if !w.ens.Committed().Exists(dir) {
		return false
	}
	label := labels()[d.IntN(len(labels()))]
	w.operatorFault(zkmem.Op{Code: zkmem.OpCreate, Path: dir + "/" + label, Mode: zkmem.PersistentSequential,
		ACL: zkmem.OpenACL()})
	w.After(world.Between(d, w.Tick, w.Timeout), w.removeForeign)
	return true
}

// mayStay reports whether a role's node is meant to outlive every session.
func (w *harness) mayStay(dir, name string) bool {
	return slices.ContainsFunc(roles, func(r *role) bool {
		return r.dirs.own == dir && slices.Contains(r.dirs.stays, name) || slices.Contains(w.OwnDirs, r.dirs.own) &&
			r.program.mayStay(w, dir, name)
	})
}

// removeForeign deletes the persistent nodes that no program made.
func (w *harness) removeForeign() {
	for _, dir := range w.lines() {
		for _, name := range w.ens.Children(dir) {
			path := dir + "/" + name
			if _, stat, err := w.ens.Committed().Get(path); err == nil && stat.EphemeralOwner == 0 &&
				!w.mayStay(dir, name) {
				w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
			}
		}
	}
}

func (w *harness) takeAccess(d *rand.Rand) bool {
	path := w.anyLine(d)
	if world.OneIn(d, 2) {
		path = w.anyPlace(d)
	}
	return w.takeRights(path, []int32{zkmem.PermRead, zkmem.PermCreate, zkmem.PermDelete, zkmem.PermAll}[d.IntN(4)])
}

// takeRights takes rights away from everybody, for a while.
func (w *harness) takeRights(path string, rights int32) bool {
	if path == "" || !w.ens.Committed().Exists(path) {
		return false
	}
	w.checks.othersChanged = true
	w.ens.Operate(zkmem.Op{Code: zkmem.OpSetACL, Path: path, Version: zkmem.AnyVersion,
		ACL: []zkmem.ACL{{Perms: zkmem.PermAll &^ rights, Scheme: "world", ID: "anyone"}}})
	w.After(world.Between(w.Dice("access"), w.Tick, w.Timeout), func() { w.giveAccess(path) })
	return true
}

func (w *harness) giveAccess(path string) {
	w.ens.Operate(zkmem.Op{Code: zkmem.OpSetACL, Path: path, Version: zkmem.AnyVersion, ACL: zkmem.OpenACL()})
}

func (w *harness) endCounter(d *rand.Rand) bool {
	dir := w.anyLine(d)
	if !w.ens.Committed().Exists(dir) {
		return false
	}
	w.operatorFault(zkmem.Op{Code: zkmem.OpSetSequence, Path: dir, Number: 1<<31 - 1 - int32(d.IntN(4))})
	w.After(world.Between(d, w.Tick, w.Timeout), func() { w.resetCounter(dir) })
	return true
}

// repeatCounter makes the next number of a line equal to the highest that exists, as a
// faulty server did at the counter's end.
func (w *harness) repeatCounter(d *rand.Rand) bool {
	dir, tree := w.anyLine(d), w.ens.Proposed()
	if tree == nil || isPlainName(dir+"/") { // a name without a GUID cannot be made twice
		return false
	}
	now, highest := tree.Sequence(dir), int64(-1)
	names, _, _ := tree.Children(dir)
	for _, label := range labels() {
		for _, p := range places(machines.Line(names, label)) {
			highest = max(highest, p.Sequence)
		}
	}
	if highest < 0 || highest != int64(now)-1 || now > 1<<30 {
		return false
	}
	w.operatorFault(zkmem.Op{Code: zkmem.OpSetSequence, Path: dir, Number: now - 1})
	return true
}

func places(line []machines.Place, _ int) []machines.Place { return line }

// resetCounter does what the error asks of the operator.
func (w *harness) resetCounter(dir string) {
	if w.ens.Committed().Sequence(dir) > 1<<30 {
		w.deleteTree(dir)
	}
}

func (w *harness) wipe(d *rand.Rand) bool {
	w.checks.othersChanged = true
	w.ens.Wipe()
	return true
}

// restore takes a backup, and restores it the next time, with the epoch or without.
func (w *harness) restore(d *rand.Rand) bool {
	if !w.ens.HasBackup() {
		w.ens.BackUp()
		return false
	}
	w.checks.othersChanged = true
	return w.ens.Restore(!world.OneIn(d, 2)) == nil
}

// repair ends everything that faults left behind. The second phase begins with a whole
// ensemble, a healthy network and lines without foreign nodes.
func (w *harness) repair() {
	w.healed = true
	w.vacancies.healed()
	w.ens.Heal()
	for _, c := range w.clients {
		c.Heal()
		c.CutStalled()
		for _, u := range c.users {
			c.Run(u.endAllWork)
			if do := u.role.program.whenHealed(u); do != nil {
				c.Run(do)
			}
		}
	}
	w.ens.RestartAll()
	w.After(w.Tick, w.restoreLines)
}

func (w *harness) restoreLines() {
	w.removeForeign()
	for _, dir := range w.lines() {
		w.giveAccess(dir)
		for _, name := range w.ens.Children(dir) {
			w.giveAccess(dir + "/" + name)
		}
	}
	w.operate()
}

// operate is what an operator does again and again until it helps.
func (w *harness) operate() {
	w.createGuardedNodes()
	for _, r := range roles {
		if slices.Contains(w.OwnDirs, r.dirs.own) {
			r.program.operate(w)
		}
	}
	for _, dir := range w.lines() {
		w.resetCounter(dir)
		if w.ens.Generation() > 0 {
			w.deleteRevived(dir)
		}
	}
}

// deleteRevived deletes nodes that only a restore can bring back: the node of an
// enrolment that has ended, under a session that never ended. The product cannot tell it
// from the node of another participant of the same process, and waits behind it. An
// operator has to delete it.
func (w *harness) deleteRevived(dir string) {
	newest := map[string]int64{}
	read := func(name string, do func(path, owner string, czxid int64)) {
		data, stat, err := w.ens.Committed().Get(dir + "/" + name)
		owner := string(data)
		if m, unread := machines.ParseShardMember(data); unread == nil {
			owner = m.ID
		}
		if err == nil && stat.EphemeralOwner != 0 && strings.Contains(owner, "/") {
			do(dir+"/"+name, owner, stat.Czxid)
		}
	}
	for _, name := range w.ens.Children(dir) {
		read(name, func(_, owner string, czxid int64) { newest[owner] = max(newest[owner], czxid) })
	}
	for _, name := range w.ens.Children(dir) {
		read(name, func(path, owner string, czxid int64) {
			if czxid < newest[owner] || w.isOver(owner) {
				w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
			}
		})
	}
}

// isOver reports whether the participant of this name has ended.
func (w *harness) isOver(name string) bool {
	client, id, _ := strings.Cut(name, "/")
	n, err := strconv.Atoi(client)
	if err != nil || n >= len(w.clients) {
		return false
	}
	state := w.clients[n].Engine().State(events.ID(id))
	return state == "" || state == "idle" && !strings.HasPrefix(id, shardsRole.recipe)
}
