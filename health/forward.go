package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/incumbent-go/incumbent"
)

// The headers of a request that one process passed on to another.
const (
	HopsHeader  = "Incumbent-Hops"  // how often it was passed on
	TokenHeader = "Incumbent-Token" // the token of the leader that it was meant for
)

// Target is where the leader answers.
type Target struct {
	URL   string // such as "http://10.0.0.7:8080", of which a path is ignored; "" if nobody leads, or it is not known
	Token int64  // of the leader, as far as is known; 0 if it is not
}

// ForwardOptions are the options of ForwardToLeader. Only Target has no default.
type ForwardOptions struct {
	// Target returns where the leader answers. It is called for each request of a process that does not lead, and must
	// be quick: see FollowLeader and FollowAdvertised. A participant's ID is data of a node, which everybody who may
	// write there chooses: look it up in a list, or check it, before it becomes an address.
	Target func(*http.Request) Target
	// Token returns the token under which this process leads: a request that was meant for a later leader is refused.
	// Nil: it is not compared, and the handler may do that by TokenHeader.
	Token func() int64
	// MaxHops is how often a request may be passed on. Default: 1.
	MaxHops int
	// Transport sends the requests. Default: http.DefaultTransport. It needs a bound on how long it takes to connect.
	Transport http.RoundTripper
}

// ForwardToLeader passes requests to next while this process leads, and otherwise to the process that does: bodies and
// answers are streamed, and upgrades, as of websockets, are passed through. The path, the query and the Host stay as
// they are.
//
// It answers 503 with Retry-After if the request was surely not carried out: nobody leads, the leader is not reached,
// the request was passed on as often as it may be, or it was meant for a later leader than this one. It answers 502 if
// the leader was reached and gave no answer: what became of the request is not known. If the leader dies in the middle
// of its answer, the connection is cut. A header that is no number is 400.
//
// A process believes that it leads until the deadline, and can be wrong for as long as it is paused: next gives the
// token to its stores nevertheless. The error says what is wrong with the options.
func ForwardToLeader(b Believer, options ForwardOptions, next http.Handler) (http.Handler, error) {
	if b == nil || next == nil || options.Target == nil || options.MaxHops < 0 {
		return nil, fmt.Errorf("health: forward to the leader: want a participant, a handler, a Target, "+
			"and MaxHops of 0 or more, got MaxHops %d", options.MaxHops)
	}
	if options.MaxHops == 0 {
		options.MaxHops = 1
	}
	return &forwarder{b, options, next}, nil
}

type forwarder struct {
	believer Believer
	options  ForwardOptions
	next     http.Handler
}

// ServeHTTP answers, or passes the request on.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hops, token, err := passed(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if f.believer.HasLeadership() {
		if f.options.Token != nil && token > f.options.Token() {
			unavailable(w, "the request is for a later leader than this process")
			return
		}
		f.next.ServeHTTP(w, r)
		return
	}
	if hops >= int64(f.options.MaxHops) {
		unavailable(w, "this process does not lead, and the request was passed on before")
		return
	}
	target := f.options.Target(r)
	base, err := url.Parse(target.URL)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "http" && base.Scheme != "https" {
		unavailable(w, "nobody leads, or its address is not known")
		return
	}
	proxy := httputil.ReverseProxy{
		Transport: f.options.Transport, FlushInterval: -1, ErrorHandler: unreached,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = base.Scheme, base.Host, p.In.Host
			p.Out.URL.RawQuery = p.In.URL.RawQuery // as it was sent: it may be signed
			p.Out.Trailer = p.In.Trailer           // it has values only after the body
			forwarded(p)
			p.Out.Header.Set(HopsHeader, strconv.FormatInt(hops+1, 10))
			p.Out.Header.Del(TokenHeader)
			if known := max(target.Token, token); known != 0 {
				p.Out.Header.Set(TokenHeader, strconv.FormatInt(known, 10))
			}
		},
	}
	proxy.ServeHTTP(w, r)
}

// passed returns how often a request was passed on, and the token of the leader that it is for; 0 if it has none.
func passed(r *http.Request) (hops, token int64, err error) {
	hops, err = numberIn(r, HopsHeader)
	if err == nil {
		token, err = numberIn(r, TokenHeader)
	}
	return hops, token, err
}

// numberIn returns the number in a header; 0 without it.
func numberIn(r *http.Request, name string) (int64, error) {
	text := r.Header.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("header %s: want a number of 0 or more", name)
	}
	return n, nil
}

// forwarded sets the X-Forwarded headers. What a proxy in front of this process said stays.
func forwarded(p *httputil.ProxyRequest) {
	const before = "X-Forwarded-For"
	p.Out.Header[before] = p.In.Header[before] // this process adds itself to the list
	p.SetXForwarded()
	for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} {
		if said := p.In.Header[name]; len(said) > 0 {
			p.Out.Header[name] = said
		}
	}
}

// unavailable answers that the request was not carried out.
func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Retry-After", "1")
	http.Error(w, why, http.StatusServiceUnavailable)
}

// unreached answers for a leader that gave no answer.
func unreached(w http.ResponseWriter, _ *http.Request, err error) {
	var failed *net.OpError
	if errors.As(err, &failed) && failed.Op == "dial" {
		unavailable(w, "the leader is not reached")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, "the leader gave no answer: what became of the request is not known", http.StatusBadGateway)
}

// LeaderFollower knows where the leader of a path answers, by incumbent.Client.WatchLeader. All its methods are safe to
// call from any goroutine.
type LeaderFollower struct {
	stop  context.CancelFunc
	ended chan struct{}

	mu     sync.Mutex
	target Target
}

// FollowAdvertised is FollowLeader with what the participants advertise (LatchOptions.Advertise): a URL of http or
// https, or HOST:PORT of an HTTP server. Allow says whether requests may be sent to an address; nil allows all, for a
// line to which only your own programs may write, by its access list.
func FollowAdvertised(c *incumbent.Client, path string, allow func(address string) bool,
	prefixes ...string) (*LeaderFollower, error) {
	return follow(c, path, prefixes, func(leader incumbent.Leader) string {
		if leader.Address == "" || allow != nil && !allow(leader.Address) {
			return ""
		}
		return baseOf(leader.Address)
	})
}

// baseOf returns the base URL of an address, "" if nobody speaks HTTP there.
func baseOf(address string) string {
	switch scheme, _, isURL := strings.Cut(address, "://"); {
	case !isURL:
		return "http://" + address
	case scheme == "http", scheme == "https":
		return address
	}
	return ""
}

// FollowLeader follows the line at path until Close, or the end of the client. Address returns the URL of a
// participant, scheme, host and port (the path is the request's), "" for none: from a list by its ID, which is foreign.
// It must be quick. The prefixes are those of Client.Watch. The error says what is wrong with the path.
func FollowLeader(c *incumbent.Client, path string, address func(incumbent.Participant) string,
	prefixes ...string) (*LeaderFollower, error) {
	return follow(c, path, prefixes, func(leader incumbent.Leader) string { return address(leader.First) })
}

// follow returns a follower of the path. Base returns the base URL of a leader, "" for none.
func follow(c *incumbent.Client, path string, prefixes []string,
	base func(incumbent.Leader) string) (*LeaderFollower, error) {
	if err := incumbent.CheckPath(path, prefixes...); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &LeaderFollower{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for leader, err := range c.WatchLeader(ctx, path, prefixes...) {
			var target Target
			if err == nil && leader.First.First {
				target = Target{URL: base(leader), Token: leader.First.Token}
			}
			f.set(target)
		}
		f.set(Target{})
	}()
	return f, nil
}

func (f *LeaderFollower) set(target Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = target
}

// Target returns where the first in line answers: it leads, or will soon. It has no URL, and ForwardToLeader answers
// 503 with Retry-After, if nobody is in line, if several lines of the path have a first each, and once there has been
// no connection, or no permission to read the line, for a session timeout.
func (f *LeaderFollower) Target(*http.Request) Target {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.target
}

// Close ends the following.
func (f *LeaderFollower) Close() {
	f.stop()
	<-f.ended
}
