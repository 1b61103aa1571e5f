package zkio

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"

	"github.com/incumbent-go/incumbent/events"
)

// DefaultPort is ZooKeeper's client port, used if a server has none.
const DefaultPort = 2181

// ParseServers parses ZooKeeper's connect string, "h1:2181,[::1]:2182,h3/app": servers with
// commas between them, then perhaps a chroot for all of them. It returns every server as
// host:port, and the chroot ("" for none).
func ParseServers(s string) (servers []string, chroot string, err error) {
	defer func() {
		if err != nil && strings.Contains(s, "@") {
			err = withoutPassword(s)
		}
	}()
	if scheme, _, ok := strings.Cut(s, "://"); ok && !strings.Contains(scheme, "/") {
		scheme = scheme[strings.LastIndexByte(scheme, ',')+1:] + "://"
		return nil, "",
			fmt.Errorf("servers %s: there is no scheme in a connect string: want %s", quoted(s),
				quoted(strings.ReplaceAll(s, scheme, "")))
	}
	list := s
	if at := strings.IndexByte(s, '/'); at >= 0 {
		list = s[:at]
		if chroot, err = parseChroot(s[at:]); err != nil {
			return nil, "", err
		}
	}
	for _, entry := range strings.Split(list, ",") {
		server, err := parseServer(entry)
		if err != nil {
			return nil, "", err
		}
		servers = append(servers, server)
	}
	return servers, chroot, nil
}

// quoted returns a part of a connect string in quotes, cut if it is long, and without what may be a password.
func quoted(s string) string {
	if scheme, _, credentials := strings.Cut(s, ":"); credentials && knownScheme(scheme) == nil && scheme != "ip" {
		return `"` + scheme + `:(hidden)"`
	}
	return events.Quote(s, 256)
}

// withoutPassword returns the error of a connect string with an @, before which a password may
// stand: it shows only what follows the last @.
func withoutPassword(s string) error {
	return fmt.Errorf("servers %s: no server has a user or a password: write host:port, and give credentials as Auth "+
		"(what stands before the @ is not shown)",
		quoted("(hidden)"+s[strings.LastIndexByte(s, '@'):]))
}

// parseServer returns host:port, with the default port if there is none.
func parseServer(entry string) (string, error) {
	wrong := func(why string) (string, error) {
		return "", fmt.Errorf("server %s: %s", quoted(entry), why)
	}
	if strings.Contains(entry, "@") {
		return "", withoutPassword(entry)
	}
	if entry == "" {
		return wrong("the name is empty: write host:port, with commas between servers")
	}
	if strings.ContainsAny(entry, " \t\r\n") {
		return wrong("there is a space in it: servers are separated by commas only")
	}
	if strings.ContainsFunc(entry, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return wrong("there is a character in it that no host name has")
	}
	if strings.Contains(entry, "/") {
		return wrong("a chroot comes once, after the last server")
	}
	host, port := entry, strconv.Itoa(DefaultPort)
	switch {
	case net.ParseIP(strings.Trim(entry, "[]")) != nil && strings.Contains(entry, ":"):
		if !strings.HasPrefix(entry, "[") || !strings.HasSuffix(entry, "]") {
			return wrong("an IPv6 address is written in brackets, like [::1]:2181")
		}
		host = strings.Trim(entry, "[]")
	case strings.Contains(entry, ":"):
		var err error
		if host, port, err = net.SplitHostPort(entry); err != nil {
			return wrong("this is neither host:port nor [ipv6]:port")
		}
	}
	switch {
	case host == "":
		return wrong("the host is empty: write host:port")
	case strings.ContainsAny(host, "[]"):
		return wrong("this is neither host:port nor [ipv6]:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return wrong(fmt.Sprintf("port %s is not a number from 1 to 65535", quoted(port)))
	}
	return net.JoinHostPort(host, port), nil
}

// parseChroot returns the chroot without a slash at its end; "/" is none.
func parseChroot(chroot string) (string, error) {
	if chroot == "" || chroot == "/" {
		return "", nil
	}
	if !strings.HasPrefix(chroot, "/") {
		return "", fmt.Errorf("chroot %s: it begins with a slash, like /app", quoted(chroot))
	}
	for _, part := range strings.Split(chroot[1:], "/") {
		switch {
		case part == "":
			return "",
				fmt.Errorf("chroot %s: there is an empty name in it; write it like /app/elections", quoted(chroot))
		case part == "." || part == "..":
			return "", fmt.Errorf("chroot %s: %s cannot be a node's name", quoted(chroot), quoted(part))
		case strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }):
			return "", fmt.Errorf("chroot %s: no spaces, commas or control characters", quoted(chroot))
		}
	}
	return chroot, nil
}
