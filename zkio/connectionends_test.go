package zkio

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

func TestTheCodeOfAnEnd(t *testing.T) {
	w := &wire{server: "zk1:2181"}
	for _, c := range []struct {
		err  error
		want events.ConnectionEnd
	}{
		{w.why(io.EOF), events.ConnectionEndClosed},
		{w.why(io.ErrUnexpectedEOF), events.ConnectionEndClosed},
		{w.why(os.ErrDeadlineExceeded), events.ConnectionEndSilent},
		{fmt.Errorf("zk1: %w", os.ErrDeadlineExceeded), events.ConnectionEndSilent},
		{w.why(errProtocol), events.ConnectionEndProtocol},
		{w.why(refusal{events.ConnectionLoss, "no answer to a ping"}), events.ConnectionEndUnanswered},
		{w.why(refusal{events.AuthFailed, "the credentials"}), events.ConnectionEndRefused},
		{w.why(notServing("it is read-only")), events.ConnectionEndNotServing},
		{w.why(errors.New("connection reset by peer")), events.ConnectionEndNetwork},
		{w.why(tls.RecordHeaderError{Msg: "no TLS"}), events.ConnectionEndNetwork},
	} {
		if got := endOf(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
