package zkmem

// Release is a release of ZooKeeper: what a server imitates.
type Release string

// The releases. Each is compared with the real server of that version.
const (
	Release39 Release = "3.9"   // 3.9.5, the default
	Release38 Release = "3.8.0" // as Debian 12 has it, with the fixes of its package
)
