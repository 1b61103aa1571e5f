package doctor

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/jute"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio"
)

// A server that answers whatever it likes makes no examination fail, or print what a terminal would obey.
func FuzzAnswers(f *testing.F) {
	greeting := jute.NewFrame().Int32(0).Int32(15000).Int64(7).Bytes(make([]byte, 16)).Bool(false).Finish()[4:]
	f.Add(greeting, []byte("tickTime=2000\nsyncLimit=5\nserverId=1\nMode: leader\nZookeeper version: 3.9.5-x, built\n"),
		jute.NewFrame().Int32(1).Text("latch-0000000001").Finish()[4:])
	f.Add(greeting, []byte("zk_avg_fsynctime\t1e300\nzk_synced_observers\t-1\nserver.1=h:1:2;\n"),
		jute.NewFrame().Text("server.1=h:1:2:participant;h:3\nversion=1").Finish()[4:])
	f.Add(greeting[:20], []byte("\x1b[31m\u202e"), []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, greeting, word, answer []byte) {
		if len(greeting)+len(word)+len(answer) > 4<<10 {
			return
		}
		s := Settings{Servers: []string{"zk:2181"}, Lines: []string{"/a/b"}, Step: repeat.Enough, Leave: repeat.Enough,
			Auth:   []zkio.Auth{zkio.AuthOf("digest", []byte("ann:pw"))},
			LookUp: func(context.Context, string) ([]string, error) { return []string{"10.0.0.1"}, nil },
			Dial: func(context.Context, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go answerAnything(theirs, greeting, word, answer)
				return ours, nil
			}}
		r := Examine(t.Context(), s)
		for _, line := range r.Text(false) {
			if strings.ContainsAny(line, "\x1b\n\u202e") {
				t.Errorf("%q", line)
			}
		}
	})
}

// answerAnything is a server that answers each four-letter word, each handshake and each request with this.
func answerAnything(conn net.Conn, greeting, word, answer []byte) {
	defer conn.Close()
	for number := 0; ; number++ {
		var length [4]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		if length[0] != 0 {
			conn.Write(word)
			return
		}
		request := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(conn, request); err != nil {
			return
		}
		reply := append(jute.NewFrame(), greeting...)
		if number > 0 {
			xid := int32(binary.BigEndian.Uint32(request))
			reply = append(jute.NewFrame().Int32(xid).Int64(1).Int32(0), answer...)
		}
		if _, err := conn.Write(reply.Finish()); err != nil {
			return
		}
	}
}
