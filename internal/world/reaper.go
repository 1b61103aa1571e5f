package world

import "github.com/incumbent-go/incumbent/zkio/zkmem"

// ReapContainers has the leader propose the end of every container that it sees without
// children and that had one, and returns how many. A create that was proposed before keeps its
// container: see PrepRequestProcessor, deleteContainer, in ZooKeeper 3.8.0. Real servers do it
// once a minute (ContainerManager). Those of unused that never had a child are reaped, too, as
// with znode.container.maxNeverUsedIntervalMs, which is off by default.
func (e *Ensemble) ReapContainers(unused ...string) int {
	l := e.Leader()
	if l == nil || !l.Leads() || !l.Up() || l.Frozen() {
		return 0
	}
	paths := l.tree.EmptyContainers()
	for _, path := range unused {
		if _, stat, err := l.tree.Get(path); err == nil && stat.Cversion == 0 {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		e.Operate(zkmem.Op{Code: zkmem.OpDeleteContainer, Path: path})
	}
	return len(paths)
}
