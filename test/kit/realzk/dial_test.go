package realzk

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// A handshake that nobody answers ends, however long go-zookeeper would wait for it.
func TestAHandshakeThatIsNotAnswered(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	conn, err := Dial("tcp", mute.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(time.Hour))
	if n, err := conn.Read(make([]byte, 4)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(n, err)
	}
}
