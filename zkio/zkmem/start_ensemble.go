//go:build !js

package zkmem

// StartEnsemble returns an ensemble of size servers for one test, one of which leads. Each listens on a free port of
// the loopback interface, which no other program gets while the server is stopped. The ensemble is closed at the end of
// the test. StartEnsemble uses the first of the Options, if any, for all members.
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
