// Package async has tools for goroutines: functions that are called one after another with values that nobody waits
// for, work that is counted, and locks that a context ends. It knows nothing of ZooKeeper or of machines.
package async
