//go:build !js

package zkmem

// StartEnsemble returns an ensemble of so many servers for one test, each on a free port of the loopback, which no other
// program takes while the server is stopped. One of them leads already. It is closed at the end of the test.
// StartEnsemble uses at most one Options, for all members.
func StartEnsemble(t TB, size int, o ...Options) *Ensemble {
	t.Helper()
	var opts Options
	if len(o) > 0 {
		opts = o[0]
	}
	e, err := newEnsemble(size, opts)
	if err != nil {
		t.Fatalf("no in-memory ensemble: %v", err)
	}
	t.Cleanup(e.Close)
	for _, s := range e.servers {
		l, err := reserved.listen()
		if err == nil {
			err = s.serveInBackground(l)
		}
		if err != nil {
			t.Fatalf("no in-memory ensemble: %v", err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.begin()
	return e
}
