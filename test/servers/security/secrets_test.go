package security

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// listener keeps the first bytes from servers: they have the session's password.
type listener struct {
	mu    sync.Mutex
	conns []*overheard
}

type overheard struct {
	net.Conn
	of   *listener
	said []byte
}

func (l *listener) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	o := &overheard{Conn: conn, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, o)
	return o, nil
}

func (o *overheard) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	if len(o.said) < 256 {
		o.said = append(o.said, b[:n]...)
	}
	return n, err
}

// cut ends the newest connection.
func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[len(l.conns)-1].Conn.Close()
}

// passwords returns those of all sessions: 16 bytes after the length of the frame,
// the protocol's version, the timeout, the session's id and their own length.
func (l *listener) passwords(t *testing.T) (all [][]byte) {
	t.Helper()
	const at, length = 4 + 4 + 4 + 8 + 4, 16
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.conns {
		if len(o.said) >= at+length {
			all = append(all, bytes.Clone(o.said[at:at+length]))
		}
	}
	if len(all) < 2 || bytes.Equal(all[0], make([]byte, length)) {
		t.Fatalf("no passwords were overheard: %x", all)
	}
	return all
}

// spellings returns the forms in which a secret could leak.
func spellings(secret []byte) map[string]string {
	quoted, _ := json.Marshal(string(secret))
	decimal := strings.Trim(fmt.Sprint(secret), "[]")
	return map[string]string{
		"plain": string(secret), "hexadecimal": hex.EncodeToString(secret),
		"HEXADECIMAL": strings.ToUpper(hex.EncodeToString(secret)),
		"base64":      base64.StdEncoding.EncodeToString(secret)[:len(secret)/3*4],
		"JSON":        strings.Trim(string(quoted), `"`),
		"Go":          strings.Trim(fmt.Sprintf("%q", secret), `"`),
		"Go's bytes":  strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", secret), "[]byte{"), "}"),
		"decimal":     decimal, "decimal with commas": strings.ReplaceAll(decimal, " ", ","),
	}
}

func search(t *testing.T, where, text string, secrets ...[]byte) {
	t.Helper()
	for _, secret := range secrets {
		for spelling, s := range spellings(secret) {
			if strings.Contains(text, s) {
				t.Errorf("%s holds a secret in %s", where, spelling)
			}
		}
	}
}

const secret = "7uNgfrau-Zw1ebel"

// Nothing that this library writes, prints or returns holds a password or a
// session's password.
func TestNoSecretGetsOut(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		path := filepath.Join(t.TempDir(), "flight.log")
		file, err := incumbent.CreateLog(path)
		ok(t, err)
		defer file.Close()
		ear := &listener{}
		c := openWith(t, p, file, as("dan:"+secret), func(c *incumbent.Config) { c.Dial = ear.dial })
		ok(t, c.WaitConnected(c.ctx))
		l := c.latch(p.line())
		held := c.lead(l)
		_, err = held.Write(c.ctx,
			incumbent.SetData(p.root+"/nowhere", []byte(secret+" in a payload"), incumbent.AnyVersion))
		texts := []string{fmt.Sprint(err)}
		ear.cut()
		<-held.Context().Done()
		texts = append(texts, fmt.Sprint(held.Check(), context.Cause(held.Context())))
		held.Release()
		c.lead(l).Release()
		ok(t, l.Close(c.ctx))

		e := connected(t, p, as("dan:"+secret+" wrong"))
		_, err = e.latch(p.line()).Await(e.ctx)
		texts = append(texts, fmt.Sprint(err))
		ok(t, e.Close(e.ctx))
		ok(t, c.Close(c.ctx))

		secrets := append(ear.passwords(t), []byte(secret))
		search(t, "an error", strings.Join(texts, "\n"), secrets...)
		search(t, "the log", c.log.String()+e.log.String(), secrets...)
		search(t, "the flight recorder", string(c.tape.Bytes())+string(e.tape.Bytes()), secrets...)
		recorded, err := os.ReadFile(path)
		ok(t, err)
		search(t, "the flight recorder's file", string(recorded), secrets...)
		info, err := os.Stat(path)
		ok(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the flight recorder's file is for %v", info.Mode())
		}
		if !strings.Contains(c.log.String(), `"leading"`) || len(recorded) < 1000 {
			t.Errorf("there is nothing to search:\n%s", c.log)
		}
		for _, r := range c.tape.Records() {
			if r.Event.Kind == events.ReplyMulti && bytes.Contains(r.Event.Data, []byte("payload")) {
				t.Errorf("a payload was recorded: %+v", r)
			}
		}
	})
}

// everyVerb is what fmt formats with, of which %p, %w and %! call no method, and one that it does not know.
var everyVerb = []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "% x", "%T", "%o", "%p", "%w", "%b", "%c",
	"%U", "%t", "%e", "%g", "%O", "%!", "%y"}

// Printed in any way, what holds a credential does not show it.
func TestNoVerbShowsASecret(t *testing.T) {
	auth, err := incumbent.ParseAuth("digest:dan:" + secret)
	ok(t, err)
	config := incumbent.Config{Servers: "127.0.0.1:1", Auth: []incumbent.Auth{auth},
		SASL: incumbent.DigestMD5("dan", secret)}
	client, err := incumbent.Open(context.Background(), config)
	ok(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	latch, err := client.Latch("/line", incumbent.LatchOptions{})
	ok(t, err)
	selector, err := client.Selector("/line", func(*incumbent.Leadership) error { return nil },
		incumbent.SelectorOptions{})
	ok(t, err)
	mutex, err := client.Mutex("/lock", incumbent.MutexOptions{})
	ok(t, err)
	queue, err := incumbent.NewQueue(client, "/queue", incumbent.QueueOptions[string]{})
	ok(t, err)
	request := client.Get("/")
	_ = client.Close(context.Background()) // it was never connected; what nothing runs under any longer can be printed
	below := zkio.Config{Servers: []string{"127.0.0.1:1"}, Timeout: time.Second,
		Auth: []zkio.Auth{zkio.AuthOf("digest", []byte("dan:"+secret))},
		Now:  func() int64 { return 0 }, Post: func(events.Envelope) {}}
	adapter, err := zkio.New(below)
	ok(t, err)
	defer adapter.Close(ctx)
	for name, v := range map[string]any{
		"Auth": auth, "*Auth": &auth, "[]Auth": config.Auth, "Config": config, "*Config": &config, "zkio.Config": below,
		"*Client": client, "*Latch": latch, "*Selector": selector, "*Adapter": adapter,
		"*Mutex": mutex, "*Holder": mutex.Holder(), "*Queue": queue, "*Request": request,
		"made": incumbent.AuthOf("x", []byte(secret)), "a map": map[incumbent.Auth]incumbent.Auth{auth: auth},
		"a private Auth":   struct{ private incumbent.Auth }{auth},
		"a private Config": struct{ private incumbent.Config }{config},
	} {
		for _, verb := range everyVerb {
			search(t, name+" printed with "+verb, fmt.Errorf(verb, v).Error(), []byte(secret))
		}
		text, _ := json.Marshal(v) // what cannot be marshalled leaks nothing
		search(t, name+" in JSON", string(text), []byte(secret))
	}
	for _, bad := range []string{"dan:" + secret, "digest:" + secret, "kerberos:dan:" + secret, ":" + secret} {
		_, err := incumbent.ParseAuth(bad)
		search(t, "the error for a bad credential", fmt.Sprint(err), []byte(secret))
	}
}
