// Package chaos runs clients in processes of their own against three real servers, and does to all of them what a bad
// month does: kill -9, SIGSTOP, restarts, servers that lose each other, links that fall silent, slow down or are cut.
// At the end it asks what they believed, against what the servers' own transaction logs say was true, and what they
// wrote.
//
// The schedule of faults is drawn from one number, the seed, and so is how long each leader wants to lead. When things
// happen is not: processes, servers and the kernel take the time they take. The same seed repeats the schedule, not the
// run.
//
// Each recipe with a place has a line of its own, on the same servers, behind the same links. The clients at one host
// share a process, so that a run does not need more processes than a small machine can run. Test/story does the same
// faults to go-zookeeper's Lock and to Curator's LeaderLatch.
package chaos
