package live

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Access says who is answered: those who know the token, and whose browser asks under a name that is expected.
type Access struct {
	Token string   // as Options.Token
	Hosts []string // as Options.Hosts
}

// NewToken returns a token that nobody can guess.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

var tokens = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

var hostNames = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// isHost reports whether a browser can ask under a name, or under an address.
func isHost(h string) bool {
	inner, opened := strings.CutPrefix(h, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	addr, err := netip.ParseAddr(inner)
	if err != nil {
		return hostNames.MatchString(h)
	}
	return addr.Zone() == "" && opened == closed && (!opened || addr.Is6())
}

// Check returns which field is wrong, nil for none.
func (a Access) Check() error {
	switch {
	case !tokens.MatchString(a.Token):
		return errors.New("live: Options.Token needs 16 to 128 letters, digits, - and _: NewToken makes one")
	case slices.ContainsFunc(a.Hosts, func(h string) bool { return !isHost(h) }):
		return fmt.Errorf("live: Options.Hosts are names or addresses without a port, such as ops.example.com, not %q",
			a.Hosts)
	}
	return nil
}

// Admit reports whether a request may be answered, and returns what stands behind the token in its path: "" for the
// page, or one of the known names. What may not be answered it answers itself: see Handler. It sets the headers of
// every answer, and gives the answer a minute.
func (a Access) Admit(w http.ResponseWriter, r *http.Request, known ...string) (rest string, admitted bool) {
	// Not every writer has one. A stream sets another for each message.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTimeout))
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"X-Frame-Options":              "DENY",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	} {
		w.Header().Set(name, value)
	}
	if !a.Expected(r.Host) {
		http.Error(w, "this server is not asked under the name "+cut(r.Host)+": want a loopback name, or one of "+
			"Options.Hosts (--host of incumbent)", http.StatusForbidden)
		return "", false
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		http.Error(w, "another site may not ask: "+cut(origin), http.StatusForbidden)
		return "", false
	}
	token, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(a.Token)) != 1 ||
		found && rest != "" && !slices.Contains(known, rest) {
		http.Error(w, "not found: the address has a token, which was printed when the server began",
			http.StatusNotFound)
		return "", false
	}
	if !found && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		w.Header().Set("Location", token+"/") // http.Redirect would not know what http.StripPrefix has cut off
		w.WriteHeader(http.StatusMovedPermanently)
		return "", false
	}
	return rest, true
}

// cut returns the beginning of a foreign text, for an error. What would turn or hide the text around it is escaped.
func cut(text string) string {
	if len(text) > 100 {
		text = text[:100] + "…"
	}
	return strconv.Quote(strings.ToValidUTF8(text, "?"))
}

// Expected reports whether a browser may ask under this name, which is a request's Host. A name that merely leads to a
// loopback address, as in DNS rebinding, is not expected.
func (a Access) Expected(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	addr, err := netip.ParseAddr(name)
	if err == nil && addr.IsLoopback() || name == "localhost" {
		return true
	}
	for _, h := range a.Hosts {
		h = strings.ToLower(strings.Trim(h, "[]"))
		// an address has several texts
		if other, wrong := netip.ParseAddr(h); name == h || err == nil && wrong == nil && addr == other {
			return true
		}
	}
	return false
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}
