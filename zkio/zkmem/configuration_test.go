package zkmem

import "testing"

// A configuration is read back as it stands in its node.
func TestAConfigurationIsReadBack(t *testing.T) {
	for _, text := range []string{
		"server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181\n" +
			"server.2=127.0.0.1:2889:3889:participant;127.0.0.1:2182\nversion=0",
		"server.1=zk1.example.com:2888:3888:participant;0.0.0.0:2181\n" +
			"server.2=[2001:db8::2]:2888:3888:participant;[::]:2181\nserver.12=10.0.0.12:2888:3888:observer\nversion=0",
	} {
		c, code := parseMembers(text)
		if got := c.String(); code != OK || got != text {
			t.Errorf("%v, %q, want %q", code, got, text)
		}
	}
	for _, text := range []string{"", ":", "host", "host:1", "host:1:2:participant:3", "host:1:1", "host:1:65536",
		"host:-1:2", "host:1:2;", "host:1:2;host:x", "host:1:2;3;4", "[::1:1:2", ":1:2"} {
		if s, ok := parseSpec(text); ok {
			t.Errorf("%q is taken for %v", text, s)
		}
	}
}
