package door_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const (
	// evilText is what a stranger may write where every byte is allowed: a title and a colour for a terminal, another
	// direction of writing, line breaks, no UTF-8, and 8 KiB.
	evilText = "\x1b]0;owned\a\u202e\u009b31m\r\nFORGED line\t\u2028\xff\xfe\x00"
	// password is in no text.
	password = "s3cret-Passw0rd"
)

// evilPath is a path with everything that ZooKeeper allows in a name, and above 4 KiB.
var evilPath = "/l\u202e\u200b\ufeff\u2066" + strings.Repeat("x", 5<<10) + "/\u202dend"

// found collects the texts of a client, and where they are from.
type found struct {
	t  *testing.T
	mu sync.Mutex
	n  int
}

// text checks one text.
func (f *found) text(where, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case len(text) > 4<<10:
		f.t.Errorf("%s has %d bytes: %.1600q", where, len(text), text)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, bad):
		f.t.Errorf("%s has something that a terminal executes, or nobody sees: %.1600q", where, text)
	case strings.Contains(text, password):
		f.t.Errorf("%s has a password: %q", where, text)
	}
}

func (f *found) err(where string, err error) {
	if err != nil {
		f.text(where, err.Error())
	}
}

// Write takes lines of the log.
func (f *found) Write(line []byte) (int, error) {
	if !strings.Contains(string(line), `"stack"`) {
		f.text("the log", strings.TrimSuffix(string(line), "\n"))
	}
	return len(line), nil
}

// config has the client's texts searched.
func (f *found) config(c *incumbent.Config) {
	c.Logger = zerolog.New(f)
	c.Observe = func(e incumbent.Event) {
		switch d := e.Detail.(type) {
		case incumbent.Trouble:
			f.err("a Trouble", d.Err)
		case incumbent.ConnectionChanged:
			f.err("a ConnectionChanged", d.Err)
		case incumbent.TermEnded:
			f.err("a TermEnded", d.Lost)
		}
	}
}

// skipped are methods that the walk does not call: they end what it walks over, or are about a log.
var skipped = []string{"Close", "CloseWith", "DumpRecord", "SaveRecord", "String", "Format", "Holder"}

// walk calls every method of a handle, and of what these return, with evil arguments, and checks their errors.
func (f *found) walk(ctx context.Context, name string, handle reflect.Value, depth int) {
	var closes reflect.Value
	for _, m := range methods(handle.Type()) {
		if depth < 0 && !slices.Contains([]string{"Unlock", "Release"}, m.Name) {
			continue
		}
		if slices.Contains(skipped, m.Name) {
			if m.Name == "Close" && takesContext(m.Type) {
				closes = handle.MethodByName("Close")
			}
			continue
		}
		f.call(ctx, name+"."+m.Name, handle.MethodByName(m.Name), depth)
	}
	if closes.IsValid() && depth != 2 { // the client's own comes later
		f.call(ctx, name+".Close", closes, 0)
	}
}

// call calls one function, with a context that ends after five seconds.
func (f *found) call(ctx context.Context, name string, function reflect.Value, depth int) {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, errors.New(evilText))
	defer cancel()
	var outs []reflect.Value
	func() {
		defer func() {
			if p := recover(); p != nil {
				f.text(name+" panics", strings.ReplaceAll(fmt.Sprint(p), "\n", ""))
			}
		}()
		outs = function.Call(evilArguments(function.Type(), ctx))
	}()
	for _, out := range outs {
		switch v := out.Interface().(type) {
		case error:
			if v.Error() != evilText { // the error of this test's own function
				f.err(name, v)
			}
			continue
		case iter.Seq2[incumbent.Change, error]:
			for _, err := range v {
				f.err(name, err)
			}
			continue
		}
		if out.Kind() == reflect.Pointer && !out.IsNil() && out.Type().Elem().PkgPath() == handleTypes()[0].PkgPath() {
			f.walk(ctx, name, out, depth-1)
		}
	}
}

// evilArguments returns arguments for f, whose texts are evil.
func evilArguments(f reflect.Type, ctx context.Context) []reflect.Value {
	all := arguments(f, ctx)
	texts := 0
	for i, arg := range all {
		switch {
		case arg.Type() == reflect.TypeFor[incumbent.Participant]():
			all[i] = reflect.ValueOf(incumbent.Participant{Path: evilPath, Token: 1, ID: evilText})
		case arg.Kind() == reflect.String && texts == 0:
			all[i], texts = reflect.ValueOf(evilPath).Convert(arg.Type()), 1
		case arg.Kind() == reflect.String:
			all[i] = reflect.ValueOf("n\u202e" + strings.Repeat("x", 5<<10)).Convert(arg.Type())
		case arg.Type() == reflect.TypeFor[[]byte]():
			all[i] = reflect.ValueOf([]byte(evilText))
		case arg.Type() == reflect.TypeFor[incumbent.LatchOptions]():
			all[i] = reflect.ValueOf(incumbent.LatchOptions{ID: evilText + strings.Repeat("y", 5<<10)})
		case arg.Type() == reflect.TypeFor[incumbent.Work]():
			all[i] = reflect.ValueOf(incumbent.Work(func(*incumbent.Leadership) error { return errors.New(evilText) }))
		case arg.Type() == reflect.TypeFor[func(*incumbent.Leadership) error]():
			all[i] = reflect.ValueOf(func(*incumbent.Leadership) error { return errors.New(evilText) })
		}
	}
	return all
}

// walkAll walks over a client, and over the queues.
func (f *found) walkAll(ctx context.Context, c *incumbent.Client) {
	f.walk(ctx, "Client", reflect.ValueOf(c), 2)
	for name, maker := range makers {
		if name != "NewMultiLock" {
			f.queue(ctx, name, c, reflect.ValueOf(maker))
		}
	}
	f.err("Client.Err", c.Err())
	for _, h := range c.Stats().Handles {
		f.err("HandleStats.Err", h.Err)
	}
}

func (f *found) queue(ctx context.Context, name string, c *incumbent.Client, maker reflect.Value) {
	args := evilArguments(maker.Type(), ctx)
	args[0] = reflect.ValueOf(c)
	outs := maker.Call(args)
	if err, failed := outs[1].Interface().(error); failed {
		f.err(name, err)
		return
	}
	f.walk(ctx, name, outs[0], 1)
}

// What others wrote is printable, and of 4 KiB at most, in every error, log line and event of a client.
func TestNoTextOfOthersIsShownAsItIs(t *testing.T) {
	codes := []zkmem.Code{zkmem.NoAuth, zkmem.NoNode, zkmem.NodeExists, zkmem.BadVersion, zkmem.NotEmpty,
		zkmem.InvalidACL, -127, -999}
	for _, code := range selection.Some(t, "codes", 1, 4, codes) {
		t.Run(fmt.Sprint("every answer is ", code), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				f := &found{t: t}
				n := w.open(f.config)
				fails(t, n.WaitConnected(t.Context()))
				honest := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if strings.HasPrefix(r.Path, "/l") {
						return zkmem.Verdict{Action: zkmem.Refuse, Code: code}
					}
					return zkmem.Verdict{}
				})
				f.walkAll(t.Context(), n.Client)
				honest()
				pass(time.Minute) // deletions go on until then
				f.enough(t, 80)
			})
		})
	}
	t.Run("no server", func(t *testing.T) {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			f := &found{t: t}
			n := w.open(f.config, func(c *incumbent.Config) {
				dial, tries := c.Dial, 0
				c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					if tries++; tries > 1000 {
						return dial(ctx, network, address)
					}
					return nil, fmt.Errorf("%s%s", evilText, strings.Repeat("z", 5<<10))
				}
			})
			f.walkAll(t.Context(), n.Client)
			f.enough(t, 80)
		})
	})
}

// enough fails if hardly anything was searched.
func (f *found) enough(t *testing.T, least int) {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n < least {
		t.Errorf("only %d texts were searched", f.n)
	}
}

// liar is a connection to a server whose names and data have the evil text where the honest one's have stand-ins of
// the same length.
type liar struct {
	net.Conn
	frame []byte
}

// evilName is the evil text in UTF-8: a log keeps no other.
var (
	evilName = strings.ReplaceAll(evilText, "\xff\xfe", "\u0085")
	standIn  = strings.Repeat("Q", len(evilName))
)

func (l *liar) Read(b []byte) (int, error) {
	if len(l.frame) == 0 {
		var size [4]byte
		if _, err := io.ReadFull(l.Conn, size[:]); err != nil {
			return 0, err
		}
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(l.Conn, body); err != nil {
			return 0, err
		}
		l.frame = append(size[:], strings.ReplaceAll(string(body), standIn, evilName)...)
	}
	n := copy(b, l.frame)
	l.frame = l.frame[n:]
	return n, nil
}

// Names and data of a server that lies are shown in no error as they are.
func TestNoTextOfALyingServerIsShownAsItIs(t *testing.T) {
	const path, guid = "/l", "_c_00000000-0000-4000-8000-000000000000-"
	for _, mode := range []zkmem.Mode{zkmem.Persistent, zkmem.PersistentSequential} {
		for _, name := range selection.Some(t, "names", 1, 5, []string{guid + "latch-", "latch-", guid + "lock-", "",
			"__WRIT__", "n_", "qn-", "ready", "instance"}) {
			t.Run(fmt.Sprint(name, " ", mode), func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					f := &found{t: t}
					n := w.open(f.config, func(c *incumbent.Config) {
						dial := c.Dial
						c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
							conn, err := dial(ctx, network, address)
							if err != nil {
								return nil, err
							}
							return &liar{Conn: conn}, nil
						}
					})
					fails(t, n.WaitConnected(t.Context()))
					for _, dir := range []string{path, path + "/leases", path + "/locks"} {
						if _, err := w.srv.Create(dir, []byte(standIn), zkmem.Persistent); err != nil {
							t.Fatal(err)
						}
						for _, at := range []string{dir + "/" + name, dir + "/" + standIn + name} {
							if created, err := w.srv.Create(at, []byte(standIn+standIn), mode); err == nil &&
								name == "" {
								_, _ = w.srv.Create(created+"/"+standIn, nil, mode)
							}
						}
					}
					saved := evilPath
					evilPath = path
					defer func() { evilPath = saved }()
					f.walkAll(t.Context(), n.Client)
					f.enough(t, 10)
				})
			})
		}
	}
}
