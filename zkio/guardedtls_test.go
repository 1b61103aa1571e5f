package zkio

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// oddUser is a user's reader, writer and cache that misbehave.
type oddUser struct{ act func() }

func (u oddUser) Read([]byte) (int, error)  { u.act(); return 0, nil }
func (u oddUser) Write([]byte) (int, error) { u.act(); return 0, nil }
func (u oddUser) Get(string) (*tls.ClientSessionState, bool) {
	u.act()
	return nil, true
}
func (u oddUser) Put(string, *tls.ClientSessionState) { u.act() }

// calledTLS has, for each function of a tls.Config, what sets it and what calls it then.
var calledTLS = map[string]struct {
	set  func(*tls.Config, oddUser)
	call func(*tls.Config) error
}{
	"Rand": {func(c *tls.Config, u oddUser) { c.Rand = u }, func(c *tls.Config) error {
		_,
			err := c.Rand.Read(nil)
		return err
	}},
	"Time": {func(c *tls.Config, u oddUser) { c.Time = func() (zero time.Time) { u.act(); return zero } },
		func(c *tls.Config) error {
			if c.Time().IsZero() {
				return nil
			}
			return errors.New("the system's time")
		}},
	"GetClientCertificate": {func(c *tls.Config, u oddUser) {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			u.act()
			return nil, nil
		}
	}, func(c *tls.Config) error { _, err := c.GetClientCertificate(nil); return err }},
	"VerifyPeerCertificate": {func(c *tls.Config, u oddUser) {
		c.VerifyPeerCertificate = func([][]byte, [][]*x509.Certificate) error { u.act(); return nil }
	}, func(c *tls.Config) error { return c.VerifyPeerCertificate(nil, nil) }},
	"VerifyConnection": {func(c *tls.Config, u oddUser) {
		c.VerifyConnection = func(tls.ConnectionState) error { u.act(); return nil }
	},
		func(c *tls.Config) error { return c.VerifyConnection(tls.ConnectionState{}) }},
	"EncryptedClientHelloRejectionVerify": {func(c *tls.Config, u oddUser) {
		c.EncryptedClientHelloRejectionVerify = func(tls.ConnectionState) error { u.act(); return nil }
	}, func(c *tls.Config) error { return c.EncryptedClientHelloRejectionVerify(tls.ConnectionState{}) }},
	"KeyLogWriter": {func(c *tls.Config, u oddUser) { c.KeyLogWriter = u }, func(c *tls.Config) error {
		_,
			err := c.KeyLogWriter.Write(nil)
		return err
	}},
	"ClientSessionCache": {func(c *tls.Config, u oddUser) { c.ClientSessionCache = u }, func(c *tls.Config) error {
		c.ClientSessionCache.Put("", nil)
		if s, ok := c.ClientSessionCache.Get(""); ok || s != nil {
			return nil
		}
		return errors.New("no session")
	}},
}

// serversOnly are functions of a tls.Config that no client calls.
var serversOnly = []string{"GetCertificate", "GetConfigForClient", "WrapSession", "UnwrapSession",
	"GetEncryptedClientHelloKeys"}

// Every function of Config.TLS.Config may panic, end its goroutine and return nothing.
func TestEveryFunctionOfTLSIsGuarded(t *testing.T) {
	of := reflect.TypeFor[tls.Config]()
	for i := range of.NumField() {
		f := of.Field(i)
		if f.IsExported() && (f.Type.Kind() == reflect.Func || f.Type.Kind() == reflect.Interface) &&
			!slices.Contains(serversOnly, f.Name) && calledTLS[f.Name].call == nil {
			t.Errorf("tls.Config.%s has no case: guardTLS has to guard it", f.Name)
		}
	}
	for name, one := range calledTLS {
		for kind, act := range map[string]func(){"panic": func() { panic("oh") }, "goexit": runtime.Goexit,
			"nil": func() {}} {
			config := &tls.Config{}
			one.set(config, oddUser{act})
			guardTLS(config)
			err := one.call(config)
			switch {
			case err == nil && kind == "nil" && name != "GetClientCertificate":
			case err == nil:
				t.Errorf("%s/%s: no error", name, kind)
			case name == "Time" || name == "ClientSessionCache": // they have no error
			case !strings.HasPrefix(err.Error(), "Config.TLS.Config."+name+" "):
				t.Errorf("%s/%s: %v", name, kind, err)
			}
		}
	}
}
