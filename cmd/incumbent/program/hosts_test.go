package program

import "testing"

// A request is for an address, for the loopback, or for a name that was given: a name that merely leads here, as in DNS
// rebinding, is not expected.
func TestExpectedHosts(t *testing.T) {
	names := hostNames{"ops.example.com"}
	for host, want := range map[string]bool{
		"localhost": true, "localhost:4040": true, "127.0.0.1:4040": true, "[::1]:4040": true, "[::1]": true,
		"10.1.2.3:4040": true, "[fd00::8]:4040": true, "10.1.2.3": true, // a kubelet asks so
		"OPS.example.com:80": true, "here.example": true, "here.example:4040": true, "": true,
		"evil.example": false, "evil.example:4040": false, "127.0.0.1.evil.example:4040": false,
		"localhost.evil.example": false,
		"10.1.2.3.evil.example":  false, "ops.example.com.evil.example": false, "a:b:c.example": false, ":4040": false,
	} {
		if got := names.expected("here.example:4040", host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
	if names.check() != nil || (hostNames{"ops.example.com:80"}).check() == nil {
		t.Error("a name with a port is none, and one without is")
	}
	if (hostNames{}).expected(":4040", ":4040") || (hostNames{}).expected(":4040", "evil.example") {
		t.Error("without a host, every name is expected")
	}
}
