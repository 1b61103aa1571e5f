package realzk_test

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func TestAServerRestartsWithItsDataOnItsPort(t *testing.T) {
	s := realzk.Start(t, realzk.Options{})
	before := s.Addr()
	s.Kill(t)
	if _, err := realzk.Word(before, "ruok"); err == nil {
		t.Fatal("killed, and it answers")
	}
	s.Restart(t)
	s.Stop(t)
	s.Restart(t)
	if answer, err := realzk.Word(s.Addr(), "srvr"); err != nil || !strings.Contains(answer, "Mode: standalone") ||
		s.Addr() != before {
		t.Fatal(answer, err)
	}
}

func TestSharedServersAreOne(t *testing.T) {
	first, path := realzk.Shared(t)
	second, other := realzk.Shared(t)
	if first != second || path == other {
		t.Fatal(first, second, path, other)
	}
}
