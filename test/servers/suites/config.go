//go:build unix

package suites

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// config is what a suite's harness gives to a server: its zoo.cfg, and the options of java.
type config struct {
	Port    string   // clientPort
	Dir     string   // dataDir
	Tick    int64    // tickTime, in milliseconds; 0 for the default
	Sync    int64    // syncLimit, in ticks; 0 for the default
	Servers []string // the lines server.N, sorted; none for a standalone server
	ID      string   // myid, in an ensemble
	Super   string   // superDigest
	TTL     bool     // extendedTypesEnabled
	Frame   int      // jute.maxbuffer; 0 for the default
	Reap    int64    // znode.container.checkIntervalMs; 0 for the default
	Least   int64    // minSessionTimeout, in milliseconds; 0 for the default
	Most    int64    // maxSessionTimeout, likewise

	Release  zkmem.Release // that it imitates; 3.8 by default
	Reconfig bool          // reconfigEnabled
	ReadOnly bool          // readonlymode.enabled

	SASL  bool              // an authProvider is that of SASL
	Users map[string]string // of the JAAS file, with SASL
	Login []string          // enforce.auth.schemes, with enforce.auth.enabled

	SecurePort           string // secureClientPort, "" for none
	KeyStore, TrustStore store  // ssl.keyStore and ssl.trustStore
	ClientAuth           string // ssl.clientAuth
}

// store is a file with certificates or a key.
type store struct{ Location, Password string }

// secure returns the settings of secureClientPort. As a real server, it demands a certificate of clients by default.
func (c config) secure() (*tls.Config, error) {
	keys, err := readKeyStore(c.KeyStore.Location, c.KeyStore.Password)
	if err != nil {
		return nil, fmt.Errorf("ssl.keyStore: %w", err)
	}
	if len(keys.pairs) == 0 {
		return nil, fmt.Errorf("ssl.keyStore: %s has no private key", c.KeyStore.Location)
	}
	secure := &tls.Config{Certificates: keys.pairs, ClientAuth: tls.RequireAndVerifyClientCert}
	switch c.ClientAuth {
	case "none":
		secure.ClientAuth = tls.NoClientCert
		return secure, nil
	case "want":
		secure.ClientAuth = tls.VerifyClientCertIfGiven
	}
	trusted, err := readKeyStore(c.TrustStore.Location, c.TrustStore.Password)
	if err != nil {
		return nil, fmt.Errorf("ssl.trustStore: %w", err)
	}
	secure.ClientCAs = trusted.trusted
	return secure, nil
}

// readConfig reads the arguments of java. The last one is a zoo.cfg.
func readConfig(args []string) (config, error) {
	if len(args) == 0 {
		return config{}, errors.New("no arguments: want those of java, with a zoo.cfg at the end")
	}
	text, err := os.ReadFile(args[len(args)-1])
	if err != nil {
		return config{}, err
	}
	c, err := parseConfig(string(text))
	if err != nil {
		return config{}, fmt.Errorf("%s: %w", args[len(args)-1], err)
	}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "-Djava.security.auth.login.config":
			if !c.SASL {
				continue
			}
			if c.Users, err = readUsers(value); err != nil {
				return config{}, err
			}
		case "-Dzookeeper.DigestAuthenticationProvider.superDigest":
			c.Super = value
		case "-Dzookeeper.extendedTypesEnabled":
			c.TTL = value == "true"
		case "-Dincumbent.release": // of the harness for Rust
			c.Release = zkmem.Release(value)
		case "-Dreadonlymode.enabled":
			c.ReadOnly = value == "true"
		case "-Dznode.container.checkIntervalMs":
			c.Reap, err = positive(name, value, "milliseconds")
		case "-Djute.maxbuffer":
			var n int64
			n, err = positive(name, value, "bytes")
			c.Frame = int(n)
		}
		if err != nil {
			return config{}, err
		}
	}
	if len(c.Servers) == 0 {
		return c, nil
	}
	id, err := os.ReadFile(filepath.Join(c.Dir, "myid"))
	c.ID = strings.TrimSpace(string(id))
	return c, err
}

// user is an option of a DigestLoginModule: user_bob="password".
var user = regexp.MustCompile(`\buser_([^\s="]+)="([^"]*)"`)

// readUsers returns the users of the section Server of a JAAS file.
func readUsers(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	users := map[string]string{}
	_, section, _ := strings.Cut(string(text), "Server {")
	section, _, _ = strings.Cut(section, "}")
	for _, found := range user.FindAllStringSubmatch(section, -1) {
		users[found[1]] = found[2]
	}
	return users, nil
}

// parseConfig reads a zoo.cfg.
func parseConfig(text string) (c config, err error) {
	enforced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !ok:
			return c, fmt.Errorf("the line %q is no name=value", line)
		case name == "clientPort":
			c.Port = value
		case name == "secureClientPort":
			c.SecurePort = value
		case name == "ssl.keyStore.location":
			c.KeyStore.Location = value
		case name == "ssl.keyStore.password":
			c.KeyStore.Password = value
		case name == "ssl.trustStore.location":
			c.TrustStore.Location = value
		case name == "ssl.trustStore.password":
			c.TrustStore.Password = value
		case name == "ssl.clientAuth":
			c.ClientAuth = value
		case name == "dataDir":
			c.Dir = value
		case name == "tickTime":
			c.Tick, err = positive(name, value, "milliseconds")
		case name == "syncLimit":
			c.Sync, err = positive(name, value, "ticks")
		case name == "minSessionTimeout" && value != "-1":
			c.Least, err = positive(name, value, "milliseconds")
		case name == "maxSessionTimeout" && value != "-1":
			c.Most, err = positive(name, value, "milliseconds")
		case name == "reconfigEnabled":
			c.Reconfig = value == "true"
		case line == "enforce.auth.enabled=true":
			enforced = true
		case name == "enforce.auth.schemes":
			c.Login = strings.Split(value, ",")
		case strings.HasPrefix(name, "authProvider."):
			c.SASL = c.SASL || strings.HasSuffix(value, ".SASLAuthenticationProvider")
		case strings.HasPrefix(name, "server."):
			c.Servers = append(c.Servers, line)
		}
		if err != nil {
			return c, err
		}
	}
	if c.Port == "" || c.Dir == "" {
		return c, errors.New("it has no clientPort, or no dataDir")
	}
	if !enforced {
		c.Login = nil
	}
	slices.Sort(c.Servers)
	return c, nil
}

// positive reads a setting, a number of a unit.
func positive(name, value, unit string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s=%s: want %s, a number above 0", name, value, unit)
	}
	return n, nil
}

// ensemble returns what identifies the server's ensemble: a standalone server is one of its own.
func (c config) ensemble() string {
	return cmp.Or(strings.Join(c.Servers, "\n"), c.Dir)
}

// options returns the settings of a server of zkmem.
func (c config) options() zkmem.Options {
	return zkmem.Options{Release: cmp.Or(c.Release, zkmem.Release38),
		Tick: milliseconds(c.Tick), ContainerInterval: milliseconds(c.Reap),
		MinSessionTimeout: milliseconds(c.Least), MaxSessionTimeout: milliseconds(c.Most), MaxFrame: c.Frame,
		SuperDigest: c.Super, ExtendedTypes: c.TTL, SASLUsers: c.Users, EnforceAuth: c.Login,
		SyncLimit: int(c.Sync), Reconfig: c.Reconfig, ReadOnlyMode: c.ReadOnly}
}

func milliseconds(n int64) time.Duration {
	return time.Duration(n) * time.Millisecond
}
