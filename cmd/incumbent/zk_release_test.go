//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func TestZkImitatesTheReleaseThatIsAskedFor(t *testing.T) {
	for want, args := range map[string][]string{"3.9.5": nil, "3.8.0": {"--release", "3.8.0"}} {
		t.Run(want, func(t *testing.T) {
			zk := start(t, nil, append([]string{"zk", "--listen", "127.0.0.1:0", "--json"}, args...)...)
			zk.Prints("\n")
			answer, err := realzk.Word(zk.Objects()[0]["address"].(string), "srvr")
			if err != nil || !strings.HasPrefix(answer, "Zookeeper version: "+want+"-") {
				t.Errorf("srvr: %q, %v", answer, err)
			}
			zk.Signal(syscall.SIGTERM)
			zk.Exits(0)
		})
	}
}

func TestZkRefusesReleasesAndSchemes(t *testing.T) {
	for want, args := range map[string][]string{
		`--release "3.7": give 3.9 or 3.8.0`:                             {"--release", "3.7"},
		`--enforce-auth "magic": the schemes are digest, ip, sasl, x509`: {"--enforce-auth", "digest,magic"},
	} {
		p := start(t, nil, append([]string{"zk"}, args...)...).Exits(64)
		programtest.Contains(t, p.Err.String(), want)
	}
}
