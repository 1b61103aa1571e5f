package zkmem

// TB is the part of [testing.TB] that Start needs; so no program that imports this package gets the testing package too.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start is a server for one test, on a free port of the loopback, which no other program takes while it is stopped: see
// [FreeAddr] and [Server.Addr]. It is closed at the end of the test. At most one Options is looked at.
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
