package incumbentgrpc

import (
	"cmp"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"

	"github.com/incumbent-go/incumbent"
)

// LeaderScheme is the scheme of targets that name a line, as in incumbent-leader:///jobs/nightly.
const LeaderScheme = "incumbent-leader"

// LeaderOptions are the options of a LeaderBuilder. The zero value is good.
type LeaderOptions struct {
	// Address returns where a leader listens, as incumbent.HostPort takes it, and "" if that is not known. It must be
	// quick. Default: what it advertises by LatchOptions.Advertise, or its ID if it advertises nothing. Both are data
	// of nodes: everybody who may write to the line chooses them. Where that is not the servers alone, look them up in
	// a list, or have TLS verify who answers.
	Address func(incumbent.Leader) string
	// Prefixes are those of plain elections at the path, as for incumbent.Client.Watch.
	Prefixes []string
}

// LeaderBuilder resolves targets that name a line to the address of its leader. All its methods are safe to call from
// any goroutine; one builder serves any number of channels.
type LeaderBuilder struct {
	client  *incumbent.Client
	options LeaderOptions

	mu    sync.Mutex
	lines map[string]*followed // by path
}

// followed is a line that channels follow.
type followed struct {
	channels int
	token    int64         // of the leader that was seen last; 0: none
	answered chan struct{} // closed when a channel has got the first answer, and when there is none any more
	once     sync.Once     // closes it
}

func (f *followed) answer() { f.once.Do(func() { close(f.answered) }) }

// Leaders returns a builder for channels to leaders. The client stays the caller's: close it after the channels.
//
// The first in line is taken for the leader, which it is or will be soon: it refuses calls until then, if it has a
// Guard. Its address is dropped when its node goes, when several lines of the path have a first each, and when there
// has been no connection, or no permission to read the line, for a session timeout: see incumbent.Client.WatchLeader.
func Leaders(client *incumbent.Client, options LeaderOptions) *LeaderBuilder {
	if options.Address == nil {
		options.Address = func(l incumbent.Leader) string { return cmp.Or(l.Address, l.First.ID) }
	}
	return &LeaderBuilder{client: client, options: options, lines: map[string]*followed{}}
}

// DialOptions returns the options for grpc.NewClient: the resolver, and the interceptors that send the leader's
// token to the callee.
func (b *LeaderBuilder) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithResolvers(b),
		grpc.WithChainUnaryInterceptor(b.Unary),
		grpc.WithChainStreamInterceptor(b.Stream),
	}
}

// Scheme returns LeaderScheme.
func (b *LeaderBuilder) Scheme() string { return LeaderScheme }

// Build is called by gRPC for each channel. The error says what is wrong with the target.
func (b *LeaderBuilder) Build(t resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver,
	error) {
	path, err := pathOf(t)
	if err != nil {
		return nil, err
	}
	if err := incumbent.CheckPath(path, b.options.Prefixes...); err != nil {
		return nil, err
	}
	r := &leaderResolver{
		channel: newChannel(cc, b.client, "the leader of "+path, b.open(path).answer), builder: b, path: path,
	}
	r.follow.Go(r.watch)
	return r, nil
}

// open returns what is known of a line that one more channel follows.
func (b *LeaderBuilder) open(path string) *followed {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines[path] == nil {
		b.lines[path] = &followed{answered: make(chan struct{})}
	}
	b.lines[path].channels++
	return b.lines[path]
}

// line returns what is known of a line; nil if no channel follows it.
func (b *LeaderBuilder) line(path string) *followed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines[path]
}

func (b *LeaderBuilder) close(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.lines[path]
	if f.channels--; f.channels == 0 {
		f.answer()
		delete(b.lines, path)
	}
}

// note keeps the token of a leader.
func (b *LeaderBuilder) note(path string, token int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.lines[path]; f != nil {
		f.token = token
	}
}

// Token returns the token of the leader that the channels to this line have seen last; 0 if they have seen none. It
// falls only if the ensemble was restored from a backup.
func (b *LeaderBuilder) Token(path string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.lines[path]; f != nil {
		return f.token
	}
	return 0
}

// leaderResolver follows one line for one channel.
type leaderResolver struct {
	*channel
	builder *LeaderBuilder
	path    string
	closing sync.Once
}

// watch follows the line until the resolver or the client is closed.
func (r *leaderResolver) watch() {
	for change, err := range r.client.WatchLeader(r.ctx, r.path, r.builder.options.Prefixes...) {
		r.apply(change, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(fmt.Errorf("incumbent: the leader of %s is not known: %w", r.path, incumbent.ErrClosed))
}

// apply takes what is known of the leader, or why the line cannot be followed.
func (r *leaderResolver) apply(leader incumbent.Leader, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.client.Closed():
		return // watch says so
	case err == nil && !leader.Unknown && !leader.Unconfirmed.IsZero():
		return // for less than a session timeout
	}
	addr := ""
	if err == nil {
		addr, err = r.address(leader)
	}
	if err != nil {
		r.fail(err)
		return
	}
	r.builder.note(r.path, leader.First.Token)
	r.serve(resolver.Endpoint{Addresses: []resolver.Address{{Addr: addr}}})
}

// address returns where the leader listens, or why that is not known.
func (r *leaderResolver) address(leader incumbent.Leader) (string, error) {
	switch {
	case leader.Unknown:
		return "", fmt.Errorf("incumbent: the leader of %s is not known: %w", r.path, leader.Err)
	case leader.First.First && leader.Err != nil:
		return "", fmt.Errorf("incumbent: the address of the leader of %s is not known: %w", r.path, leader.Err)
	case leader.Err != nil:
		return "", leader.Err
	case leader.Blocker.Path != "":
		return "", fmt.Errorf("incumbent: nobody leads %s: the persistent node %.64q blocks the line", r.path,
			leader.Blocker.Path)
	case leader.Vacant:
		return "", fmt.Errorf("incumbent: nobody leads %s", r.path)
	}
	said := r.builder.options.Address(leader)
	addr, err := incumbent.HostPort(said)
	if err != nil {
		return "", fmt.Errorf("incumbent: the leader of %s, %.64q, has the address %.64q: want host:port, "+
			"as LatchOptions.Advertise says it", r.path, leader.First.ID, said)
	}
	return addr, nil
}

// Close ends the following. gRPC calls it.
func (r *leaderResolver) Close() {
	r.closing.Do(func() {
		r.channel.Close()
		r.builder.close(r.path)
	})
}
