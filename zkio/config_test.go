package zkio_test

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

func settings() zkio.Config {
	return zkio.Config{
		Servers: []string{"h1"}, Timeout: 15 * time.Second,
		Now: func() int64 { return 1 }, Post: func(events.Envelope) {},
	}
}

func TestNewSaysWhatWouldBeRight(t *testing.T) {
	cases := map[string]struct {
		spoil func(*zkio.Config)
		want  string
	}{
		"servers": {func(c *zkio.Config) { c.Servers = nil }, "name at least one"},
		"server":  {func(c *zkio.Config) { c.Servers = []string{"h1:x"} }, `port "x"`},
		"timeout": {func(c *zkio.Config) { c.Timeout = 10 }, "15s is usual"},
		"long":    {func(c *zkio.Config) { c.Timeout = 1e6 * time.Hour }, "the maximum of ZooKeeper's protocol"},
		"now":     {func(c *zkio.Config) { c.Now = nil }, "the loop's clock"},
		"post":    {func(c *zkio.Config) { c.Post = nil }, "the loop's inbox"},
		"chroot":  {func(c *zkio.Config) { c.Chroot = "app" }, "begins with a slash"},
		"auth":    {func(c *zkio.Config) { c.Auth = []zkio.Auth{{Scheme: "sasl"}} }, "is Config.SASL"},
		"key":     {func(c *zkio.Config) { c.TLS = &zkio.TLS{Cert: "c.pem"} }, "two files"},
		"ca":      {func(c *zkio.Config) { c.TLS = &zkio.TLS{CA: "/nowhere/ca.pem"} }, "/nowhere/ca.pem"},
		"blind": {func(c *zkio.Config) {
			c.TLS = &zkio.TLS{Config: &tls.Config{InsecureSkipVerify: true}}
		}, "name the authority"},
		"old TLS": {func(c *zkio.Config) {
			c.TLS = &zkio.TLS{Config: &tls.Config{MaxVersion: tls.VersionTLS11}}
		}, "TLS 1.2 is the least"},
	}
	for name, c := range cases {
		cfg := settings()
		c.spoil(&cfg)
		if _, err := zkio.New(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	digest := []zkio.Auth{zkio.AuthOf("digest", []byte("u:hunter2"))}
	cases := []struct {
		spoil func(*zkio.Config)
		want  []string
	}{
		{func(*zkio.Config) {}, []string{"writable for every client"}},
		{func(c *zkio.Config) { c.Auth = digest }, []string{"in the clear"}},
		{func(c *zkio.Config) { c.Auth, c.TLS = digest, &zkio.TLS{} }, nil},
		{func(c *zkio.Config) {
			c.TLS = &zkio.TLS{Config: &tls.Config{Certificates: []tls.Certificate{{}}}}
		}, nil},
		{func(c *zkio.Config) { c.TLS = &zkio.TLS{} }, []string{"writable for every client"}},
		{func(c *zkio.Config) { c.ACL = []zkio.ACL{{Perms: zkio.PermRead, Scheme: "world", ID: "anyone"}} }, nil},
	}
	for i, c := range cases {
		cfg := settings()
		c.spoil(&cfg)
		var got []string
		cfg.Warn = func(text string) { got = append(got, text) }
		if _, err := zkio.New(cfg); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if !slices.EqualFunc(got, c.want, strings.Contains) || strings.Contains(strings.Join(got, ""), "hunter2") {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}
