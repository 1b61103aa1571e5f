package digestmd5

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The proofs are those of the example of RFC 2831, and of a login that a real ZooKeeper accepted.
func TestProofs(t *testing.T) {
	for want, d := range map[string]digest{
		"d388dad90d4bbd760a152321f2143af7 ea40f60335c427b5527b84dbabcdfffd": {user: "chris", password: "secret",
			realm: "elwood.innosoft.com", nonce: "OA6MG9tEQGm2hh", cnonce: "OA6MHXh6VqTrRk",
			uri: "imap/elwood.innosoft.com"},
		"7b6d85b744df07a7ff23f0823e05cac8 8d29676a83a6cf870fb438ade8febe14": {user: "bob", password: "bobsecret",
			realm: realm, nonce: "QNRWv11NpFyEF8o83UFLrXyDfIusPYluzWIrN+LE", cnonce: "825328791494615",
			uri: uri},
		// Java's client sends an authzid, too.
		"b246f47e575f6a794a2bc22c52bd77e2 fc0848762f619bcd4ec6824e55b13762": {user: "bob", password: "bobsecret",
			realm: realm, nonce: "o6YA1OEbEfpPdu4Jk+LS83wm3jQjBbfdbsah3WGl",
			cnonce: "jEeGbCL75sHR5BnZ9F8wPomXN4mr0KARVgNI5aN+", uri: uri, authzid: "bob"},
	} {
		client, server, err := d.proofs()
		if got := client + " " + server; err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", d.user, got, err, want)
		}
	}
}

// play plays a login to its end.
func play(c *Exchange, s *Server) (user string, client, server error) {
	var token []byte
	for {
		answer, name, err := s.Next(token)
		if err != nil {
			return "", nil, err
		}
		var done bool
		if token, done, err = c.Next(context.Background(), answer); done || err != nil {
			return name, err, nil
		}
	}
}

// A client and a server agree on users and passwords of any alphabet.
func TestLogin(t *testing.T) {
	users := map[string]string{
		"bob": "bobsecret", "Jürgen": "größer", "ann": "Łódź", "山田": "パスワード🔑", `a"b\c`: `",\`,
		"d,e=f": " x ", "empty": "",
	}
	for user, password := range users {
		name, client, server := play(NewClient(user, password).Begin(), NewServer(users))
		if name != user || client != nil || server != nil {
			t.Errorf("%s: %q, client %v, server %v", user, name, client, server)
		}
		for _, wrong := range []Client{NewClient(user, password+"x"), NewClient(user+"x", password)} {
			if name, _, server := play(wrong.Begin(), NewServer(users)); name != "" || server == nil {
				t.Errorf("%s: a wrong one is accepted as %q", user, name)
			}
		}
	}
	name, client, server := play(NewClient("bob", "bobsecret").Begin(), NewServer(nil))
	if name != "" || client != nil || server == nil {
		t.Errorf("a server without users: %q, client %v, server %v", name, client, server)
	}
}

// A client refuses a server that it does not understand, or that does not know the password. No error has a secret.
func TestAClientRefuses(t *testing.T) {
	const begin = `realm="r",nonce="n",`
	for challenge, want := range map[string]string{
		"null":                         "has no SASL login for clients",
		"":                             "has no nonce",
		`realm="r",algorithm=md5-sess`: "has no nonce",
		begin + `algorithm=md5`:        `for the algorithm "md5"`,
		begin + `algorithm=md5-sess,qop="auth-int,auth-conf"`: `demands the protection "auth-int,auth-conf"`,
		begin + `algorithm=md5-sess`:                          "takes only names and passwords of ISO 8859-1",
		begin + `nonce="m"`:                                   `two of "nonce"`,
		begin + `x`:                                           "not made of key=value",
		begin + `x="y`:                                        "a quote that is not closed",
		begin + `x="y"z`:                                      "without a comma",
		begin + `x="y\`:                                       "a quote that is not closed",
		strings.Repeat("x", maxMessage+1):                     "4097 bytes",
	} {
		token := []byte(challenge)
		if challenge == "null" {
			token = nil
		}
		answer, done, err := NewClient("ann", "Łódź").Begin().Next(context.Background(), token)
		if err == nil || done || answer != nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "Łódź") {
			t.Errorf("%q: %q %t %v, want %q", challenge, answer, done, err, want)
		}
	}
	for _, proof := range []string{"", "rspauth=", "rspauth=" + strings.Repeat("0", 32), "x"} {
		c := NewClient("ann", "pw").Begin()
		challenge := []byte(begin + `charset=utf-8,algorithm=md5-sess,qop="auth-int, auth"`)
		if _, _, err := c.Next(context.Background(), challenge); err != nil {
			t.Fatal(err)
		}
		if _, done, err := c.Next(context.Background(), []byte(proof)); !done || err == nil {
			t.Errorf("the proof %q is accepted", proof)
		}
	}
}

// A user may have any name without control characters, spaces too.
func TestNamesOfUsers(t *testing.T) {
	for name, ok := range map[string]bool{"": false, "ann": true, "ann b": true, "~": true, "Łódź": true,
		"a\x1fb": false, "a\x7f": false, "\xff": false} {
		if err := NewClient(name, "pw").Check(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Of several realms the first is taken, and nothing else may come twice.
func TestTheFirstRealm(t *testing.T) {
	found, err := parse([]byte(`realm="one",realm="two",nonce=n`))
	if err != nil || found["realm"] != "one" || found["nonce"] != "n" {
		t.Errorf("%v, %v", found, err)
	}
}

// A server that has allowSaslFailedClients answers a wrong password with null, which is no proof of another server.
func TestANullInPlaceOfTheProof(t *testing.T) {
	c := NewClient("ann", "pw").Begin()
	if _, _, err := c.Next(context.Background(), []byte(`nonce="n",algorithm=md5-sess`)); err != nil {
		t.Fatal(err)
	}
	_, done, err := c.Next(context.Background(), nil)
	if !done || err == nil || !strings.HasPrefix(err.Error(), "the server did not accept the login: check the user") {
		t.Errorf("%t %v", done, err)
	}
}

// A server without charset=utf-8 gets names in ISO 8859-1, and no realm if it names none.
func TestAnOldChallenge(t *testing.T) {
	challenge := []byte(`nonce="n",algorithm=md5-sess`)
	answer, _, err := NewClient("Jürgen", "größer").Begin().Next(context.Background(), challenge)
	if err != nil || !strings.HasPrefix(string(answer), "username=\"J\xfcrgen\",nonce=\"n\",nc=00000001,cnonce=") {
		t.Errorf("%q %v", answer, err)
	}
	s := NewServer(map[string]string{"Jürgen": "größer"})
	if _, _, err := s.Next(nil); err != nil {
		t.Fatal(err)
	}
	c := NewClient("Jürgen", "größer").Begin()
	answer, _, err = c.Next(context.Background(), []byte(`realm="zk-sasl-md5",nonce="`+s.nonce+`",algorithm=md5-sess`))
	if err != nil {
		t.Fatal(err)
	}
	if _, user, err := s.Next(answer); user != "Jürgen" || err != nil {
		t.Errorf("%q %v", user, err)
	}
}

// A server refuses what is not an answer to its challenge, and says nothing after the end.
func TestAServerRefuses(t *testing.T) {
	users := map[string]string{"bob": "b"}
	for _, key := range []string{
		"username", "nonce", "cnonce", "digest-uri", "response", "realm", "charset", "qop",
	} {
		s, c := NewServer(users), NewClient("bob", "b").Begin()
		challenge, _, _ := s.Next(nil)
		answer, _, _ := c.Next(context.Background(), challenge)
		changed := strings.Replace(string(answer), key+"=", key+"=x,other=", 1)
		if changed == string(answer) {
			t.Fatalf("%q has no %q", answer, key)
		}
		if _, user, err := s.Next([]byte(changed)); user != "" || err == nil {
			t.Errorf("%q is accepted", changed)
		}
		if _, _, err := s.Next(answer); err == nil {
			t.Error("it goes on after the end")
		}
	}
}

// No way to print a client shows its password.
func TestAClientIsPrintedWithoutItsPassword(t *testing.T) {
	c := NewClient("bob", "hunter2")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, c); got != "DIGEST-MD5 (bob)" {
			t.Errorf("%s: %s", verb, got)
		}
	}
	type holder struct{ private Client }
	begun := c.Begin()
	if _, _, err := begun.Next(context.Background(), []byte(`realm="r",nonce="n",algorithm=md5-sess`)); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%w", "%!"} {
		for _, value := range []any{c, &c, holder{c}, &holder{c}, []holder{{c}}, begun, *begun,
			struct{ e *Exchange }{begun}} {
			got := fmt.Errorf(verb, value).Error()
			if strings.Contains(got, "hunter2") || strings.Contains(strings.ToLower(got), "68756e74657232") {
				t.Errorf("%s of %T: %s", verb, value, got)
			}
		}
	}
	if got, err := json.Marshal(c); err != nil || string(got) != `"DIGEST-MD5 (bob)"` {
		t.Errorf("%s %v", got, err)
	}
	for want, c := range map[string]Client{"name of a user": NewClient("", "hunter2"),
		"UTF-8": NewClient("bob", "hunter2\xff"), "control": NewClient("b\nb", "hunter2")} {
		err := c.Check()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := NewClient("Jürgen", "").Check(); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`realm="a",realm="b",nonce=c`, `a="\`, `,,a=b ,c="d\"e"`, "=", `a=b"c"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		found, err := parse([]byte(message))
		if err != nil {
			return
		}
		var again []string
		for key, value := range found {
			again = append(again, key+"="+quote(value))
		}
		same, err := parse([]byte(strings.Join(again, ",")))
		if err != nil || fmt.Sprint(same) != fmt.Sprint(found) {
			t.Errorf("%q: %q, and again %q (%v)", message, found, same, err)
		}
	})
}
