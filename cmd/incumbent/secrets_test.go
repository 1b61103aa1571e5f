//go:build unix

package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestTheCommandDoesNotInheritSecrets prints the environment of the command and, on Linux, of the guard, which
// is the first process of the command's group.
func TestTheCommandDoesNotInheritSecrets(t *testing.T) {
	const script = `env; for g in $(ps -o pgid= -p $$ 2>/dev/null); do tr '\0' '\n' 2>/dev/null < ` +
		`/proc/$g/environ; done; exit 0`
	for _, verb := range []string{"elect", "lock"} {
		for _, pass := range []bool{false, true} {
			args := []string{verb, line}
			if pass {
				args = append(args, "--pass-auth")
			}
			secrets := []string{"INCUMBENT_AUTH=digest:ann:SECRETPW", "INCUMBENT_SASL_PASSWORD=SECRETPW",
				"INCUMBENT_CONTROL_TOKEN=SECRETTOKEN"}
			env := append(slices.Clone(secrets), "INCUMBENT_SERVERS="+zkmem.Start(t).Addr())
			out := programtest.Start(t, env, append(args, "--", "sh", "-c", script)...).Exits(0).Out.String()
			programtest.Contains(t, out, "INCUMBENT_TOKEN=")
			for _, secret := range secrets {
				if strings.Contains(out, secret) != pass {
					t.Errorf("%s, --pass-auth %v: %s is in the environment: %v", verb, pass, secret, !pass)
				}
			}
		}
	}
}
