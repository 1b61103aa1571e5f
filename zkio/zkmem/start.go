//go:build !js

package zkmem

// TB is the part of [testing.TB] that Start needs; so a program that imports this package does not get the testing
// package too.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start returns a server for one test, on a free port of the loopback, which no other program takes while it is
// stopped: see [FreeAddr] and [Server.Addr]. It is closed at the end of the test. Start uses at most one Options.
func Start(t TB, o ...Options) *Server {
	t.Helper()
	var opts Options
	if len(o) > 0 {
		opts = o[0]
	}
	s := New(opts)
	t.Cleanup(s.Close)
	l, err := reserved.listen()
	if err == nil {
		err = s.serveInBackground(l)
	}
	if err != nil {
		t.Fatalf("no in-memory ZooKeeper: %v", err)
	}
	return s
}
