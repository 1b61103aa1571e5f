package otherservers

import (
	"fmt"
	"testing"

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
