package health

import (
	"net/http"
	"net/url"
)

// Believer is a latch, a selector, an election or a job election.
type Believer interface{ HasLeadership() bool }

// hopParameter is set in a redirect's target, so that two processes do not send a request back and forth.
const hopParameter = "incumbent-hop"

// LeaderOnly passes requests to next while this process leads. Otherwise it answers 307 to the same path at
// the leader's address, or 503 with Retry-After: if there is no address, or the request was redirected
// before (it has the query parameter "incumbent-hop").
//
// Target returns the leader's base URL, such as "https://10.0.0.7:8443"; "" if it is not known. It is called
// for each such request, and must be quick. A participant's ID is data of a node, which everybody who may write
// there chooses: Target has to look it up, as Allowed does, and must not return it. A nil Target
// answers 503 always.
func LeaderOnly(b Believer, target func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.HasLeadership() {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if to := location(target, r); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Retry-After", "1")
		http.Error(w, "this process does not lead", http.StatusServiceUnavailable)
	})
}

// Allowed returns a Target: the address of the participant whose ID leader returns, as the list has it. An
// ID that is not in the list has no address.
func Allowed(leader func() string, list map[string]string) func(*http.Request) string {
	return func(*http.Request) string { return list[leader()] }
}

// location returns where a request is redirected to, "" if nowhere.
func location(target func(*http.Request) string, r *http.Request) string {
	if target == nil || r.URL.Query().Has(hopParameter) {
		return ""
	}
	base, err := url.Parse(target(r))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return ""
	}
	to := url.URL{Scheme: base.Scheme, Host: base.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}
	to.RawQuery = r.URL.RawQuery // as it was sent: it may be signed, or in a form of its own
	if to.RawQuery != "" {
		to.RawQuery += "&"
	}
	to.RawQuery += hopParameter + "=1"
	return to.String()
}
