package door_test

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What an address is, and what is wrong with one that is none: the same for the one that advertises and the ones that
// dial it.
func TestHostPort(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		for address, want := range map[string]string{
			"10.0.0.7:8080": "10.0.0.7:8080", "host-a:080": "host-a:80", "[2001:db8::7]:1": "[2001:db8::7]:1",
			"https://host-a": "host-a:443", "HTTP://h_1.example./x?y#z": "", "http://h/x?y#z": "h:80",
			"https://[2001:db8::7]": "[2001:db8::7]:443", "redis://h:6379/0": "h:6379",
			":80": "", "[::]:80": "", "0.0.0.0:80": "", "[::ffff:0.0.0.0]:80": "", "http://:80": "", "http://": "",
			"host": "", "host:": "", "host:0": "", "host:65536": "", "host:+1": "", "host:http": "", "redis://h": "",
			"10.0.0.7:80@evil.example": "", "http://a@h": "", "http://10.0.0.7:80@evil.example": "", "//h:80": "",
			"unix:/x": "", "unix:///x": "", "h:80/../x": "", "h:80?x": "", "http://%zz:1": "", "[fe80::1%eth0]:80": "",
			"2001:db8::7": "", "h;reload:1": "", "h a:1": "", "h:1\n": "", "h:1 ": "", "\xff:1": "", "://h:1": "",
			"host-b:0x1f90": "", strings.Repeat("h", 250) + ":1": strings.Repeat("h", 250) + ":1",
			strings.Repeat("h", 300) + ":1": "", "http://" + strings.Repeat("h", 1024): "",
		} {
			got, err := incumbent.HostPort(address)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%q: %q, %v, want %q", address, got, err, want)
			}
			latch, refused := n.Latch("/l", incumbent.LatchOptions{Advertise: address})
			if (refused == nil) != (err == nil) {
				t.Errorf("%q: HostPort says %v, and Advertise %v", address, err, refused)
			}
			if refused == nil {
				_ = latch.Close(t.Context())
			} else {
				mustSay(t, refused, "LatchOptions.Advertise", "want ", "10.0.0.7:8080")
			}
		}
	})
}
