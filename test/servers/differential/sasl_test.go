package differential

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/digestmd5"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// saslUsers have names and passwords that ISO 8859-1 has, that it has not, and with signs that the mechanism quotes.
var saslUsers = map[string]string{"bob": "bobsecret", "jörg": "größer", "łukasz": "zażółć",
	"山田": "パスワード🔑", "q": `q\"q`}

// TestALoginIsAnsweredAsByTheRealServer plays logins that succeed, and each way in which one fails, on a server that
// demands a login and on one that does not.
func TestALoginIsAnsweredAsByTheRealServer(t *testing.T) {
	onReleases(t, func(t *testing.T, r release) {
		for _, demanded := range []bool{false, true} {
			o := realzk.Options{MaxTimeout: lasting, Properties: realzk.SASL(t, saslUsers)}
			m := zkmem.Options{MaxSessionTimeout: lasting, SASLUsers: saslUsers}
			if demanded {
				o.Properties = append(o.Properties, realzk.RequireSASL)
				m.EnforceAuth = []string{"sasl"}
			}
			apache, mem := r.start(t, o, m)
			var heard [2]string
			for side, addr := range []string{apache.Addr(), mem.Addr()} {
				heard[side] = strings.Join(logins(newWorld(addr)), "\n")
			}
			if heard[0] != heard[1] {
				name := fmt.Sprintf("logins, demanded: %t", demanded)
				t.Error(played{name: name, real: heard[0], mem: heard[1]}.differs())
			}
			t.Logf("demanded: %t\n%s", demanded, heard[1])
		}
	})
}

// secrets are what differs from login to login.
var secrets = regexp.MustCompile(`(nonce=\\"|rspauth=)[^\\"]*`)

// saslClient is a client that logs in, and what it hears.
type saslClient struct {
	*client
	heard []string
}

// logins returns what clients hear that log in.
func logins(w *world) []string {
	c := &saslClient{client: w.clients[0]}
	for _, user := range slices.Sorted(maps.Keys(saslUsers)) {
		c.begin("the user " + user)
		c.logIn(user, saslUsers[user], "", "")
		path := "/of-" + fmt.Sprint(len(c.heard))
		for _, one := range []asked{{0, "", opWhoAmI, nil},
			{0, "", opCreate, enc{}.str(path).i32(-1).acls([]acl{{31, "auth", ""}}).i32(1)},
			{0, "", opGetACL, enc{}.str(path)}, {0, "", opGetACL, enc{}.str("/of-4")}} {
			before, _, _ := strings.Cut(withoutZxid(c.ask(one.op, one.body)), "{")
			c.hear(before)
		}
	}
	for _, wrong := range [][2]string{{"bob", "wrong"}, {"carol", "pw"}, {"bob", "größer"}} {
		c.begin("wrong: " + wrong[0] + " " + wrong[1])
		c.logIn(wrong[0], wrong[1], "", "")
	}
	for _, change := range [][2]string{{"charset=utf-8,", ""}, {"charset=utf-8", "charset=latin"},
		{"qop=auth", "qop=auth-int"}, {",qop=auth", ""}, {"nc=00000001", "nc=00000002"}, {"zookeeper/", "other/"},
		{"nonce=\"", "nonce=\"x"}, {"realm=", "other="}, {"zk-sasl-md5\",nonce", "elsewhere\",nonce"},
		{"maxbuf=65536,", ""}, {"response=", "response=0"}, {"username=\"bob\",", ""}, {"response=", "respons="},
		{",nc=", ",,nc="}, {"\",nc", "\" , nc"}, {"qop=auth", "qop=auth,authzid=\"bob\""}} {
		c.begin(fmt.Sprintf("%q is %q", change[0], change[1]))
		c.logIn("bob", "bobsecret", change[0], change[1])
	}
	for _, tokens := range [][]string{{"token"}, {" "}, {null}, {"", ""}, {"", "token"}, {"", "a=b"}, {"", "="},
		{"", `a="`}, {"", null}} {
		c.begin(fmt.Sprintf("tokens %q", tokens))
		for _, token := range tokens {
			c.token([]byte(token))
		}
	}
	for _, third := range []string{"", "token", null} {
		c.begin(fmt.Sprintf("a third token %q", third))
		c.logIn("bob", "bobsecret", "", "")
		c.token([]byte(third))
	}
	return c.heard
}

// begin connects again.
func (c *saslClient) begin(what string) {
	c.hangUp()
	c.heard = append(c.heard, what)
	c.hear(c.connect(0, make([]byte, 16), 0, lastingMs, "me"))
	c.w.base = 0
}

// hear notes what the server says, without what differs from login to login, and whether it ends the connection then.
func (c *saslClient) hear(line string) {
	c.heard = append(c.heard, secrets.ReplaceAllString(line, "$1…"))
	if strings.Contains(line, " code -1") && !strings.Contains(line, " code -10") {
		c.heard = append(c.heard, c.expectEnd())
	}
}

// logIn logs in. In its answer to the challenge, one text is replaced by another.
func (c *saslClient) logIn(user, password, old, by string) {
	challenge := c.token(nil)
	answer, _, err := digestmd5.NewClient(user, password).Begin().Next(context.Background(), challenge)
	if err != nil {
		c.hear(err.Error())
		return
	}
	c.token([]byte(strings.Replace(string(answer), old, by, 1)))
}

// token sends a token, and returns the server's.
func (c *saslClient) token(token []byte) []byte {
	if c.conn == nil {
		return nil
	}
	c.xid++
	c.send(enc{}.i32(c.xid).i32(opSASL).strOrNull(string(token)))
	frame, err := c.read()
	if err != nil {
		c.hangUp()
		c.hear("EOF")
		return nil
	}
	c.hear(c.tell(frame, opSASL))
	if len(frame) < 20 || binary.BigEndian.Uint32(frame[16:]) > uint32(len(frame)) {
		return nil
	}
	return frame[20:]
}
