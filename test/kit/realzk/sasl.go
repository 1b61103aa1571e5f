package realzk

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// SASL returns the properties of a server to which these users can log in by DIGEST-MD5. It writes their passwords to
// a JAAS file of the test's.
func SASL(t testing.TB, users map[string]string) []string {
	t.Helper()
	var b strings.Builder
	b.WriteString("Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required")
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, user := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&b, "\n  \"user_%s\"=\"%s\"", user, quote.Replace(users[user]))
	}
	b.WriteString(";\n};\n")
	file := filepath.Join(t.TempDir(), "jaas.conf")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"java.security.auth.login.config=" + file,
		"zookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"}
}

// RequireSASL is the property of a server that serves only clients that have logged in.
const RequireSASL = "zookeeper.sessionRequireClientSASLAuth=true"
