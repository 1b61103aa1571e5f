package zkio

import (
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// What a configuration leaves out has the value that its field's comment names.
func TestDefaults(t *testing.T) {
	for timeout, handshake := range map[time.Duration]time.Duration{9 * time.Second: 3 * time.Second,
		time.Minute: 5 * time.Second} {
		c, err := Config{
			Servers: []string{"h1"}, Timeout: timeout,
			Now: func() int64 { return 1 }, Post: func(events.Envelope) {},
		}.complete()
		if err != nil {
			t.Fatal(err)
		}
		if c.Handshake != handshake || c.Backoff != time.Second || c.Window != 64 || c.MaxRequest != 1<<20 ||
			c.MaxAnswer != 4<<20 {
			t.Errorf("of a timeout of %s: handshake %s, back-off %s, window %d, requests %d, answers %d",
				timeout, c.Handshake, c.Backoff, c.Window, c.MaxRequest, c.MaxAnswer)
		}
		if c.Lag() != 1500*time.Millisecond || c.Paused(0) != 0 {
			t.Errorf("lag %s, paused %s", c.Lag(), c.Paused(0))
		}
	}
}

// New nodes are for their creator alone if the client has an identity of any kind; a list that is given stays.
func TestTheDefaultAccessListIsClosedWithAnIdentity(t *testing.T) {
	certificate := func() (*tls.Certificate, error) { return nil, errors.New("not asked here") }
	for name, c := range map[string]struct {
		config Config
		want   []ACL
	}{
		"none":             {Config{}, WorldAll},
		"TLS only":         {Config{TLS: &TLS{Config: &tls.Config{}}}, WorldAll},
		"digest":           {Config{Auth: []Auth{AuthOf("digest", []byte("u:p"))}}, CreatorAll},
		"certificate file": {Config{TLS: &TLS{Cert: "c.pem", Key: "k.pem"}}, CreatorAll},
		"certificate":      {Config{TLS: &TLS{Config: &tls.Config{Certificates: []tls.Certificate{{}}}}}, CreatorAll},
		"certificate by call": {Config{TLS: &TLS{Config: &tls.Config{
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return certificate()
			}}}}, CreatorAll},
		"a list": {Config{TLS: &TLS{Cert: "c.pem", Key: "k.pem"}, ACL: WorldAll}, WorldAll},
	} {
		c.config.fill()
		if !slices.Equal(c.config.ACL, c.want) {
			t.Errorf("%s: %v, want %v", name, c.config.ACL, c.want)
		}
	}
}

// No setting of a user's makes a connection with an older TLS than 1.2.
func TestTLS12IsTheLeast(t *testing.T) {
	for given, want := range map[uint16]uint16{0: tls.VersionTLS12, tls.VersionTLS10: tls.VersionTLS12,
		tls.VersionTLS13: tls.VersionTLS13} {
		made, err := (&TLS{Config: &tls.Config{MinVersion: given}}).config("h")
		if err != nil || made.MinVersion != want {
			t.Errorf("of %x: %+v, %v, want %x", given, made, err, want)
		}
	}
}

// A watch event that ends too early is no ZooKeeper's: the connection ends, and nothing is posted.
func TestACutWatchEventEndsTheConnection(t *testing.T) {
	posted := 0
	s := &session{a: &Adapter{coding: coding{cfg: Config{Post: func(events.Envelope) { posted++ }}}}}
	s.watches.subscribe(&call{id: "latch-1", path: "/n", watch: dataWatch})
	whole := []byte{0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 2, '/', 'n'}
	for size := range len(whole) {
		a := answer{xid: xidWatchEvent, body: jute.Decoder{Rest: whole[:size]}}
		if _, err := s.process(&wire{}, a); !errors.Is(err, errProtocol) || posted != 0 {
			t.Errorf("%d of %d bytes: %v, %d events", size, len(whole), err, posted)
		}
	}
	_, err := s.process(&wire{}, answer{xid: xidWatchEvent, body: jute.Decoder{Rest: whole}})
	if err != nil || posted != 1 {
		t.Errorf("whole: %v, %d events", err, posted)
	}
}

// What is sent is the credential as it was given, and a copy of it.
func TestACredentialIsSentAsGiven(t *testing.T) {
	given := []byte("user:pass:word")
	a := AuthOf("digest", given)
	clear(given)
	parsed, err := ParseAuth("digest:user:pass:word")
	if err != nil || a.credentials() != "user:pass:word" || parsed.credentials() != a.credentials() {
		t.Errorf("%q, %q, %v", a.credentials(), parsed.credentials(), err)
	}
	if frame := string(AuthFrame(a)); !strings.HasSuffix(frame,
		"\x00\x00\x00\x06digest\x00\x00\x00\x0euser:pass:word") {
		t.Errorf("%q", frame)
	}
	if got := (Auth{Scheme: "ip"}).credentials(); got != "" {
		t.Errorf("none is %q", got)
	}
}
