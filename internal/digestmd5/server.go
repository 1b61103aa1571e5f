package digestmd5

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
)

// Server is the server's side of one login, as ZooKeeper has it.
type Server struct {
	passwords map[string]string
	nonce     string
	ended     bool
}

// NewServer returns the server's side of one login, for these users.
func NewServer(passwords map[string]string) *Server { return &Server{passwords: passwords} }

// Next takes a token of the client, and returns the next one for it. At the end it returns the user, too, "" before.
func (s *Server) Next(token []byte) (answer []byte, user string, err error) {
	switch {
	case s.ended:
		return nil, "", errors.New("the login has ended")
	case s.nonce == "": // whatever the first token is, as in Java
		s.nonce = rand.Text()
		challenge := "realm=" + quote(realm) + ",nonce=" + quote(s.nonce) + ",charset=utf-8,algorithm=md5-sess"
		return []byte(challenge), "", nil
	}
	s.ended = true
	d, proof, err := s.read(token)
	if err != nil {
		return nil, "", err
	}
	password, known := s.passwords[d.user]
	if !known {
		return nil, "", errors.New("the user is not known")
	}
	d.password = password
	expect, own, err := d.proofs()
	switch {
	case err != nil:
		return nil, "", err
	case subtle.ConstantTimeCompare([]byte(proof), []byte(expect)) != 1:
		return nil, "", errors.New("the proof is wrong")
	}
	return []byte("rspauth=" + own), d.user, nil
}

// read reads the client's answer to the challenge.
func (s *Server) read(token []byte) (d digest, proof string, err error) {
	found, err := parse(token)
	if err != nil {
		return d, "", err
	}
	for _, key := range []string{"username", "nonce", "cnonce", "nc", "digest-uri", "response"} {
		if found[key] == "" {
			return d, "", fmt.Errorf("there is no %s", key)
		}
	}
	d = digest{user: found["username"], realm: found["realm"], nonce: found["nonce"], cnonce: found["cnonce"],
		uri: found["digest-uri"], authzid: found["authzid"]}
	switch charset, given := found["charset"]; {
	case given && charset != "utf-8":
		return d, "", errors.New("the charset is not utf-8")
	case !given:
		d.user, d.authzid = fromLatin(d.user), fromLatin(d.authzid)
	}
	protection, given := found["qop"]
	switch {
	case d.realm != realm, d.nonce != s.nonce, !strings.EqualFold(d.uri, uri), given && protection != qop:
		return d, "", errors.New("the answer is to another challenge")
	}
	return d, found["response"], nil
}
