// Package process tests what becomes of leaders and waiters whose whole process is stopped (SIGSTOP) for longer than
// their session lives: no library can keep a stopped process from believing, but the token it hands to a store can.
//
// The participants are processes of their own: the test binary, started again as a worker. A worker's flight recorder
// comes back through a pipe, so that a test waits for the worker's own states.
package process
