package interop

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// The Go peer is a second process of this test binary. It does for this library what
// java/Peer.java does for Curator, with the same commands.
const peerArguments = "INCUMBENT_INTEROP_PEER"

func TestMain(m *testing.M) {
	if args := os.Getenv(peerArguments); args != "" {
		if err := bePeer(strings.Fields(args)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	waitSideBySide()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		curator.remove()
		os.Exit(code)
	}))
}

// waitSideBySide has more parallel tests run at a time than there are processors, unless -parallel says how many:
// they wait for sessions to expire.
func waitSideBySide() {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = parallel.Value.Set("5")
	}
}

// noJournal as the journal's path has peers write none.
const noJournal = "-"

// brisk is a term just long enough for the next one to follow at once: terms begin at least 100 ms apart.
const brisk = 120 * time.Millisecond

// goPeer is the process's state.
type goPeer struct {
	client  *incumbent.Client
	theirs  *zkProgram // of the peer that has go-zookeeper's Lock and no client
	journal *zk.Conn
	entries string // the journal's directory

	mu      sync.Mutex
	members map[string]*goMember
}

// goMember is one member of a line.
type goMember struct {
	peer     *goPeer
	id, path string
	mark     string // in the names of its line
	turns    chan struct{}
	close    func(context.Context) error
	line     func(context.Context) ([]incumbent.Participant, error)
	leads    func() bool
	mutex    *incumbent.Mutex // of those who lock
	lowers   atomic.Bool      // the end of the term as a writer is one as a reader's beginning
	lower    func(context.Context) (*incumbent.Hold, error)
}

func bePeer(args []string) error {
	millis, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	p := &goPeer{members: map[string]*goMember{}, entries: args[3]}
	if p.journal, err = connect(args[1]); err != nil {
		return err
	}
	timeout := time.Duration(millis) * time.Millisecond
	if len(args) > 4 {
		return p.beZkProgram(args[0], timeout)
	}
	p.client, err = incumbent.Open(context.Background(), incumbent.Config{
		Servers: args[0], SessionTimeout: timeout, Tick: timeout / 20,
		ConnectRetry: incumbent.RetryForever(50 * time.Millisecond),
	})
	if err != nil {
		return err
	}
	p.client.OnConnection(func(s incumbent.ConnectionState) { p.say("connection %s", s) })
	if err := p.client.WaitConnected(context.Background()); err != nil {
		return err
	}
	return p.obeyAll()
}

// obeyAll says that the peer is ready, and obeys commands until there are no more.
func (p *goPeer) obeyAll() error {
	p.say("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if err := p.obey(strings.Fields(in.Text())); err != nil {
			p.say("error %s: %v", in.Text(), err)
		}
	}
	return nil // no goodbye: the session is left to expire
}

func (p *goPeer) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

func (p *goPeer) obey(words []string) error {
	if words[0] == "join" {
		return p.join(words[1], words[2], words[3])
	}
	m := p.members[words[1]]
	switch {
	case m == nil:
		return errors.New("who is that?")
	case words[0] == "yield":
		m.turns <- struct{}{}
	case words[0] == "lower":
		m.lowers.Store(true)
		m.turns <- struct{}{}
	case words[0] == "leave":
		err := m.close(context.Background())
		p.say("left %s", m.id)
		return err
	case words[0] == "revoke":
		return m.revoke(words[2])
	case words[0] == "try":
		return m.try()
	case words[0] == "has":
		p.say("has %s %t", m.id, m.leads())
	case words[0] == "line" && m.peer.theirs != nil:
		return m.zkRoll()
	case words[0] == "line":
		all, err := m.line(context.Background())
		if err != nil {
			return err
		}
		p.say("line %s %s", m.id, roll(all, m.mark))
	}
	return nil
}

// roll writes a line as the Java peer does.
func roll(all []incumbent.Participant, mark string) string {
	var ids []string
	for _, one := range all {
		if !strings.Contains(one.Path, mark) {
			continue
		}
		if one.First {
			one.ID += "*"
		}
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, " ")
}

func (p *goPeer) join(recipe, id, path string) error {
	m := &goMember{peer: p, id: id, path: path, turns: make(chan struct{}, 1)}
	p.members[id] = m
	options := incumbent.LatchOptions{ID: id, Advertise: addressOf(id),
		Retry: incumbent.RetryForever(10 * time.Millisecond)}
	switch recipe {
	case "read", "write", "kread", "kwrite":
		return m.readWrite(incumbent.MutexOptions{ID: id, Kazoo: recipe[0] == 'k', Retry: options.Retry},
			strings.HasSuffix(recipe, "read"))
	case "zk":
		return m.lockOfGoZookeeper()
	case "mutex", "kazoo":
		return m.lock(incumbent.MutexOptions{ID: id, Kazoo: recipe == "kazoo", Revocable: true, Retry: options.Retry})
	case "election":
		e, err := p.client.Election(path, "n_", options)
		if err != nil {
			return err
		}
		m.mark, m.close, m.line, m.leads = "n_", e.Close, e.Participants, e.HasLeadership
		if err := e.Start(); err != nil {
			return err
		}
		go m.hold(e)
		return nil
	case "latch":
		l, err := p.client.Latch(path, options)
		if err != nil {
			return err
		}
		m.mark, m.close, m.line, m.leads = "-latch-", l.Close, l.Participants, l.HasLeadership
		if err := l.Start(); err != nil {
			return err
		}
		go m.hold(l)
		return nil
	}
	s, err := p.client.Selector(path, func(l *incumbent.Leadership) error {
		whole := time.After(brisk)
		m.term(l.Context())
		<-whole // pause: work lasts that long, or a back-off follows it
		return nil
	}, incumbent.SelectorOptions{ID: id, Advertise: options.Advertise, Retry: options.Retry, AutoRequeue: true})
	if err != nil {
		return err
	}
	m.mark, m.close, m.line, m.leads = "-lock-", s.Close, s.Participants, s.HasLeadership
	return s.Start()
}

// holder is a latch, or a candidate of a plain election.
type holder interface {
	Await(context.Context) (*incumbent.Leadership, error)
	Close(context.Context) error
}

// hold leads term after term, and closes the handle when its turn is over.
func (m *goMember) hold(l holder) {
	for {
		held, err := l.Await(context.Background())
		if err != nil {
			return
		}
		yielded := m.term(held.Context())
		held.Release()
		if yielded {
			_ = l.Close(context.Background())
			return
		}
	}
}

// term is the work: it writes its beginning and its end into the journal.
func (m *goMember) term(ctx context.Context) (yielded bool) {
	if err := m.enter(); err != nil {
		m.peer.say("error enter %s: %v", m.id, err)
		return false
	}
	select {
	case <-ctx.Done():
	case <-m.turns:
		yielded = true
	}
	if err := m.peer.write("exit " + m.id); err != nil {
		m.peer.say("error exit %s: %v", m.id, err)
	}
	m.peer.say("stopped %s", m.id)
	return yielded
}

func (m *goMember) enter() error {
	if m.peer.entries == noJournal {
		m.peer.say("leader %s", m.id)
		return nil
	}
	names, _, err := m.peer.journal.Children(m.path)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.Contains(n, m.mark) })
	if len(names) == 0 {
		return errors.New("nobody is in line")
	}
	first := slices.MinFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	data, _, err := m.peer.journal.Get(m.path + "/" + first)
	if err != nil {
		return err
	}
	if err := m.peer.write(fmt.Sprintf("enter %s %s %s", m.id, first, data)); err != nil {
		return err
	}
	m.peer.say("leader %s %s", m.id, first)
	return nil
}

// number returns the sequence number in a node's name.
func number(name string) string { return name[len(name)-10:] }

func (p *goPeer) write(entry string) error {
	if p.entries == noJournal {
		return nil
	}
	_, err := p.journal.Create(p.entries+"/e-", []byte(entry), zk.FlagSequence, zk.WorldACL(zk.PermAll))
	return err
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(addr string) (*zk.Conn, error) {
	conn, _, err := zk.Connect([]string{addr}, 40*time.Second, zk.WithDialer(realzk.Dial), zk.WithLogger(silent{}),
		zk.WithLogInfo(false))
	return conn, err
}
