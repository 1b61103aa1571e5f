package doctor

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/zkio"
)

// maxWord bounds the answer to a four-letter word.
const maxWord = 4 << 20

// Word asks a server, at "host:port", for a four-letter word, encrypted if t is not nil, and returns its answer, "" if
// the word is not in its whitelist. The whole takes that long at most. It is safe to call from anywhere.
func Word(ctx context.Context, address string, t *zkio.TLS, word string, within time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	s := Settings{TLS: t, Step: within}.withDefaults()
	return s.word(ctx, address, word)
}

// word asks a server for a four-letter word. It returns "" if the word is not in its whitelist.
func (s *Settings) word(ctx context.Context, address, word string) (string, error) {
	conn, err := s.dial(ctx, address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(s.Step)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, word); err != nil {
		return "", ended(ctx, s.plain(err))
	}
	text, err := io.ReadAll(io.LimitReader(conn, maxWord))
	switch {
	case err != nil:
		return "", ended(ctx, s.plain(err))
	case strings.Contains(string(text), "is not executed because it is not in the whitelist"):
		return "", nil
	}
	return string(text), nil
}

// fields are what a server says of itself, by its own names.
type fields map[string]string

// linesOf reads lines of a name and a value with one of these characters between them.
func linesOf(text, between string) fields {
	f := fields{}
	for line := range strings.Lines(text) {
		if at := strings.IndexAny(line, between); at > 0 {
			f[strings.TrimSpace(line[:at])] = strings.TrimSpace(line[at+1:])
		}
	}
	return f
}

// number returns a whole number, false if there is none.
func (f fields) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(f[name], 0, 64)
	return n, err == nil
}

// readSrvr takes what the word srvr says: version, role, and the last transaction.
func (v *Server) readSrvr(text string) {
	f := linesOf(text, ":")
	v.noQuorum = strings.Contains(text, "not currently serving requests")
	v.learnVersion(f["Zookeeper version"], "srvr")
	v.learnRole(f["Mode"])
	if zxid, ok := f.number("Zxid"); ok {
		v.zxid = zxid
	}
}

// readConf takes what the word conf says: the settings of the server.
func (v *Server) readConf(text string) {
	f := linesOf(text, "=")
	v.learnSettings(f, "conf", "tickTime", "syncLimit", "serverId")
}

// readMntr takes what the word mntr says.
func (v *Server) readMntr(text string) {
	f := linesOf(text, "\t")
	v.learnVersion(f["zk_version"], "mntr")
	v.learnRole(f["zk_server_state"])
	v.monitored = true
	if n, ok := f.number("zk_synced_observers"); ok && v.Role != roleLeader {
		v.observers = int(n)
	}
	if ms, err := strconv.ParseFloat(f["zk_avg_fsynctime"], 64); err == nil && ms > 0 {
		v.fsync = time.Duration(ms * float64(time.Millisecond))
	}
}
