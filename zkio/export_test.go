package zkio

import (
	"context"
	"net"
)

// ReplaceNetwork has a test resolve names and dial addresses.
func (a *Adapter) ReplaceNetwork(
	lookUp func(context.Context, string) ([]string, error), dial func(context.Context, string) (net.Conn, error),
) {
	a.network = network{lookUp: lookUp, dial: dial}
}
