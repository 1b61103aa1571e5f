package interop

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/discovery"
	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// javaDiscovery returns a peer with Curator's x-discovery.
func (s *stage) javaDiscovery() *peer {
	s.t.Helper()
	c := peers.FindDiscovery(s.t)
	classes := s.t.TempDir()
	compile := exec.Command("javac", "-J-Xmx128m", "-cp", c.ClassPath(), "-sourcepath", "java", "-d", classes,
		filepath.Join("java", "discovery", "Discovery.java"))
	if out, err := compile.CombinedOutput(); err != nil {
		s.t.Fatalf("javac: %v\n%s", err, out)
	}
	p := s.peer("java")
	p.command = func() *exec.Cmd {
		options := []string{"-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", c.ClassPath(classes)}
		return exec.Command("java", slices.Concat(options, []string{"Discovery"}, p.arguments())...)
	}
	return p.launch()
}

// asks sends a peer a command, and returns what follows the first word of its answer.
func (p *peer) asks(answer, format string, args ...any) string {
	p.stage.t.Helper()
	from := p.stage.now()
	p.say(format, args...)
	said, _ := p.stage.await(from, p.name+" to answer "+answer, func(s saying) bool {
		return s.peer == p && s.words[0] == answer
	})
	return strings.Join(said.words[1:], " ")
}

// show shows an instance as Discovery.java does.
func show(i discovery.Instance) string {
	text := func(s string) string {
		if s == "" {
			return "null"
		}
		return s
	}
	port := func(n int) string { return text(strings.TrimPrefix(strconv.Itoa(n), "0")) }
	registered := int64(0)
	if !i.Registered.IsZero() {
		registered = i.Registered.UnixMilli()
	}
	payload := text(strings.Trim(string(i.Payload), `"`))
	if strings.HasPrefix(payload, "{") {
		payload = "object"
	}
	uri := "null"
	if i.URI != nil {
		uri = i.BuildURI(nil)
	}
	return strings.Join([]string{
		i.Service, i.ID, text(i.Address), port(i.Port), port(i.SSLPort), payload, fmt.Sprint(registered),
		string(i.Type), fmt.Sprint(!i.Disabled), uri,
	}, "|")
}

// comparesBytes checks that Curator writes what the tests of discovery have, and that both read the same in what others
// write.
func (p *peer) comparesBytes() {
	t, java := p.stage.t, p
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "discovery", "testdata", "curator-5.9.tsv"))
	ok(t, err)
	data := []string{
		`{"id":"i"}`, `{}`, `{"id":"i","enabled":false}`, `{"id":"i","enabled":null}`, `{"id":"i","unknown":{"x":[1]}}`,
		`{"ID":"i","Name":"n","PORT":"x"}`, `{"id":"i","payload":{"zone":"x"}}`,
		`{"id":"i","address":null,"port":null}`,
		`{"id":"i","name":"n","serviceType":"PERMANENT"}`, `{"id":"i","registrationTimeUTC":null}`,
		`{"id":"i","id":"j"}`,
		`{"id":"i","serviceType":"dynamic"}`, `{"id":"i","port":true}`, `[]`, `junk`, ``, `null`,
		`{"id":"i","sslPort":7,"uriSpec":{"parts":[{"value":"scheme","variable":true},{"value":"[","variable":true}]}}`,
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if name, want, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); found {
			rows++
			if got := java.asks("written", "write %s", name); got != want {
				t.Errorf("%s: Curator writes\n%s\nand testdata has\n%s", name, got, want)
			}
			i, err := discovery.Decode([]byte(want))
			if err != nil || i.Class() != "" || strings.HasPrefix(string(i.Payload), "[") {
				continue // Java shows a type of its own
			}
			data = append(data, want)
		}
	}
	if rows == 0 {
		t.Error("testdata has no rows")
	}
	for _, text := range data {
		ours := "fails"
		if i, err := discovery.Decode([]byte(text)); err == nil {
			ours = show(i)
		}
		if theirs := java.asks("read", "read =%s", base64.StdEncoding.EncodeToString([]byte(text))); theirs != ours {
			t.Errorf("%s:\nCurator reads %s\nwe read       %s", text, theirs, ours)
		}
	}
}

// seen is a reader of ours, and of Curator's, of one service.
type seen struct {
	s    *stage
	java *peer
	ours *discovery.Cache
	ctx  context.Context
}

// both waits until both readers have these instances.
func (s seen) both(from int, what, want string) {
	t := s.s.t
	t.Helper()
	s.s.await(from, what+", in Java", func(said saying) bool {
		return said.peer == s.java && said.words[0] == "changed" && strings.Join(said.words[2:], " ") == want
	})
	for v, err := range s.ours.Watch(s.ctx) {
		ok(t, err)
		var ids []string
		for _, f := range v.Instances {
			id := f.ID
			if f.Disabled {
				id += "(off)"
			}
			ids = append(ids, id)
		}
		if slices.Sort(ids); strings.Join(ids, " ") == want && !v.Stale {
			return
		}
	}
	t.Fatalf("gave up waiting for %s", what)
}

// Curator writes and reads the bytes that this library does, and the instances of both sides are found by both, through
// a cut, an expiry and a kill.
func TestCuratorAndGoFindEachOther(t *testing.T) {
	t.Parallel()
	s := newStageOf(t, brief)
	java := s.javaDiscovery()
	java.comparesBytes()
	base := s.root + "/discovery"
	java.asks("done", "open %s", base)
	link := newProxy(t, s.addr)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	config := incumbent.Config{Servers: link.addr(), SessionTimeout: s.timeout, Tick: s.timeout / 20}
	client, err := incumbent.Open(ctx, config)
	ok(t, err)
	defer func() { ok(t, client.Close(ctx)) }()
	other, _ := s.ours()
	services, err := discovery.New(client, base)
	ok(t, err)
	defer func() { ok(t, services.Close(ctx)) }()
	reader, err := discovery.New(other, base)
	ok(t, err)
	defer func() { ok(t, reader.Close(ctx)) }()
	cache, err := reader.Cache("orders", discovery.CacheOptions{})
	ok(t, err)
	both := seen{s, java, cache, ctx}
	from := s.now()
	java.asks("cached", "cache orders")

	// Each side registers.
	payload, err := discovery.ClassPayload("Discovery$Payload", map[string]any{"zone": "eu-1", "weight": 7})
	ok(t, err)
	own := discovery.Instance{Service: "orders", ID: "go", Address: "10.0.0.1", Port: 1, Payload: payload}
	_, err = services.Register(own)
	ok(t, err)
	_, err = services.Register(discovery.Instance{Service: "orders", ID: "off", Disabled: true})
	ok(t, err)
	ok(t, services.WriteStatic(ctx, discovery.Instance{Service: "orders", ID: "static-go"}))
	for _, i := range []string{"java DYNAMIC", "static STATIC", "q- DYNAMIC_SEQUENTIAL"} {
		java.asks("done", "register orders %s", i)
	}
	both.both(from, "all of both", "go java off(off) q- static static-go")
	if got := java.asks("shown", "show orders go"); !strings.HasPrefix(got, "orders|go|10.0.0.1|1|null|eu-1/7|") {
		t.Errorf("Java reads our instance as %s", got)
	}
	found, err := services.Get(ctx, "orders", "java")
	ok(t, err)
	if got := show(found.Instance); got != "orders|java|10.0.0.9|9|null|null|1|DYNAMIC|true|null" {
		t.Errorf("we read Java's instance as %s", got)
	}

	// A cut shows to nobody.
	from = s.now()
	link.cut()
	_, err = services.Register(discovery.Instance{Service: "orders", ID: "after"})
	ok(t, err)
	both.both(from, "one after the cut", "after go java off(off) q- static static-go")
	for _, said := range s.since(from) {
		if said.words[0] == "changed" && !slices.Contains(said.words, "go") {
			t.Errorf("the cut showed: %q", said.words)
		}
	}

	// After an expiry all is there again.
	from = s.now()
	link.hole()
	both.both(from, "the end of the session", "java q- static static-go")
	from = s.now()
	link.heal()
	both.both(from, "the next session", "after go java off(off) q- static static-go")

	// Java's node is left alone, until Java is killed.
	_, before, err := s.conn.Get(base + "/orders/java")
	ok(t, err)
	same, err := services.Register(discovery.Instance{Service: "orders", ID: "java"})
	ok(t, err)
	for !errors.Is(same.Err(), incumbent.ErrOccupied) {
		_, err := client.Exists(base + "/orders/java").Do(ctx) // its answer comes after the registration's
		ok(t, err)
	}
	if _, now, err := s.conn.Get(base + "/orders/java"); err != nil || now.Czxid != before.Czxid || now.Version != 0 {
		t.Errorf("Java's node was touched: %+v, %v", now, err)
	}
	java.kill()
	ok(t, same.WaitPresent(ctx))
	for v, err := range cache.Watch(ctx) {
		ok(t, err)
		if !strings.Contains(fmt.Sprint(v.Instances), "q-") {
			break
		}
	}
	data, stat, err := s.conn.Get(base + "/orders/static")
	if err != nil || stat.EphemeralOwner != 0 {
		t.Errorf("Java's static instance after the kill: %s, %v", data, err)
	}
	ok(t, reader.DeleteStatic(ctx, "orders", "static"))
	if there, _, err := s.conn.Exists(base + "/orders/static"); err != nil || there {
		t.Errorf("after its deletion: %t, %v", there, err)
	}
}
