package arguments

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/internal/fault"
)

// maxAddress is how many bytes an address may have, and maxHost how many the name of its host.
const (
	maxAddress = 1024
	maxHost    = 253
)

// CheckAddress returns what is wrong with an address that others show and dial. An empty one is none.
func CheckAddress(what, address string) error {
	if address == "" {
		return nil
	}
	_, err := HostPort(what, address)
	return err
}

// HostPort returns the host and the port of an address: HOST:PORT, or a URL. The error says what is wrong with it.
func HostPort(what, address string) (string, error) {
	if len(address) > maxAddress {
		return "", fmt.Errorf("incumbent: %s has %d bytes: want at most %d, as in 10.0.0.7:8080 or https://host-a",
			what, len(address), maxAddress)
	}
	host, port, err := split(address)
	if err == nil {
		err = checkHost(host)
	}
	number, bad := strconv.ParseUint(port, 10, 16)
	if err == nil && (bad != nil || number == 0) {
		err = errors.New("a port from 1 to 65535")
	}
	if err != nil {
		return "", fmt.Errorf("incumbent: %s is %s: want %v, as in 10.0.0.7:8080 or https://host-a", what,
			fault.Quoted(address), err)
	}
	return net.JoinHostPort(host, strconv.FormatUint(number, 10)), nil
}

// ports are those of URLs that name none.
var ports = map[string]string{"http": "80", "https": "443"}

// split returns the host and the port of an address. The error says what it should have.
func split(address string) (host, port string, err error) {
	odd := func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
	if !utf8.ValidString(address) || strings.ContainsFunc(address, odd) {
		return "", "", errors.New("no spaces or control characters")
	}
	scheme, at, isURL := strings.Cut(address, "://")
	switch end := strings.IndexAny(at, `/?#\`); {
	case !isURL:
		at = address
	case !isScheme(scheme):
		return "", "", errors.New("a scheme of letters before the ://")
	case end >= 0:
		at = at[:end]
	}
	if host, port, err = net.SplitHostPort(at); err == nil {
		return host, port, nil
	}
	if port = ports[scheme]; !isURL || port == "" {
		return "", "", errors.New("a host and a port")
	}
	if strings.HasPrefix(at, "[") && strings.HasSuffix(at, "]") {
		return at[1 : len(at)-1], port, nil
	}
	return at, port, nil
}

// checkHost returns what is wanted instead of a host that nobody else can dial, or that is none: no other character
// means the same wherever an address is written to.
func checkHost(host string) error {
	ip := net.ParseIP(host)
	switch {
	case host == "", ip != nil && ip.IsUnspecified():
		return errors.New("a host that others reach")
	case ip != nil:
		return nil
	case len(host) > maxHost, strings.Trim(host, ".-") != host, strings.ContainsFunc(host, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("._-", r)
	}):
		return errors.New("an IP address, or a name of letters, digits, dots and dashes")
	}
	return nil
}

func isAlphanumeric(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }

func isScheme(s string) bool {
	return s != "" && s[0] > '9' && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("+.-", r)
	})
}
