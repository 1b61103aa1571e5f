package program

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/page/live"
)

// hostNames are the names under which an HTTP server of this program answers, besides addresses and loopback names. A
// page in a browser can have a name of its own lead to this server, and read what it answers; it cannot do so with an
// address.
type hostNames []string

func (h *hostNames) flags(f *pflag.FlagSet) {
	f.StringArrayVar((*[]string)(h), "http-host", nil,
		"a name under which HTTP requests are answered, such as that of a Prometheus target; "+
			"addresses, localhost and the host that is listened on always are (may be repeated)")
}

func (h hostNames) check() error {
	for _, name := range h {
		if !asked(name) {
			return cli.Usage("--http-host takes a name without a port, such as ops.example.com, not %s",
				events.Quote(name, events.MaxName))
		}
	}
	return nil
}

// expected reports whether a server that listens at an address answers a request for a host. A request of HTTP/1.0 has
// none, and no browser sends it.
func (h hostNames) expected(listened, host string) bool {
	name := host
	if without, _, err := net.SplitHostPort(host); err == nil {
		name = without
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || host == "" {
		return true
	}
	names := h
	if own, _, _ := net.SplitHostPort(listened); own != "" {
		names = append(hostNames{own}, h...)
	}
	return live.Access{Hosts: names}.Expected(host)
}

// only answers requests for an expected host, and refuses the others.
func (h hostNames) only(listened string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.expected(listened, r.Host) {
			http.Error(w, "this server is not asked under the name "+events.Quote(r.Host, events.MaxName)+
				": ask under its address, or start it with --http-host and that name", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
