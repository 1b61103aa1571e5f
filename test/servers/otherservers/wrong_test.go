package otherservers

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A server that was silent may know what it was asked for.
func TestASilentServerIsNotRemembered(t *testing.T) {
	inBubble(t, zkmem.Options{}, func(t *testing.T, srv *zkmem.Server, c *client) {
		for i := range 4 {
			srv.Freeze(zkmem.Outbound)
			if _, err := c.Create(fmt.Sprint("/silent", i), nil).Container().Do(c.ctx); err == nil {
				t.Fatal("a silent server has answered")
			}
			srv.Heal()
			ok(t, c.WaitConnected(c.ctx))
		}
		_, err := c.Create("/container", nil).Container().Do(c.ctx)
		ok(t, err)
	})
}

// A client of which nobody asks for anything says why its connections end, and that its session was not closed.
func TestAnIdleClientIsRefusedWithWords(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		srv := zkmem.New(zkmem.Options{EnforceAuth: []string{"digest"}})
		t.Cleanup(func() {
			srv.Close()
			synctest.Wait()
		})
		dial := func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go srv.ServeConn(there)
			return here, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		t.Cleanup(cancel)
		c, err := incumbent.Open(ctx, incumbent.Config{Servers: "192.0.2.1:2181", Dial: dial})
		ok(t, err)
		said := make(chan string, 100)
		c.OnConnection(func(s incumbent.ConnectionState) {
			if s == incumbent.Suspended {
				said <- fmt.Sprint(c.Err())
			}
		})
		const words = "SESSIONCLOSEDREQUIRESASLAUTH: the server demands a login"
		if text := <-said; !strings.Contains(text, words) {
			t.Error("the end of a connection:", text)
		}
		ok(t, c.WaitConnected(ctx))
		if err := c.Close(ctx); err == nil || !strings.Contains(err.Error(), words) {
			t.Error("the close:", err)
		}
	})
}
