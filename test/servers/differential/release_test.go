package differential

import (
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// release is a release of the real server.
type release struct{ realzk.Release }

// onReleases runs a test on each release.
func onReleases(t *testing.T, test func(t *testing.T, r release)) {
	t.Helper()
	realzk.Each(t, func(t *testing.T, r realzk.Release) { test(t, release{r}) })
}

// imitated returns the release of zkmem that is nearest to what the real server at an address says it is.
func (r release) imitated(t *testing.T, addr string) zkmem.Release {
	t.Helper()
	if r.At(t, addr).Before(realzk.Version{3, 9, 0}) {
		return zkmem.Release38
	}
	return zkmem.Release39
}

// start starts a server of the release, real and in memory.
func (r release) start(t *testing.T, o realzk.Options, mem zkmem.Options) (apache *realzk.Server,
	memory *zkmem.Server) {
	t.Helper()
	o.Release = r.Release
	apache = realzk.Start(t, o)
	mem.Release = r.imitated(t, apache.Addr())
	return apache, zkmem.Start(t, mem)
}
