// Command incumbent is the operators' program with a login by Kerberos: each command that connects has --principal and
// --keytab, besides all that it has in the root module. Install it in its place.
package main

import (
	"errors"
	"os"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent/cmd/incumbent/program"
	"github.com/incumbent-go/incumbent/integrations/kerberos"
)

func main() { os.Exit(program.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, login)) }

// login is the program's login by Kerberos.
var login = program.Login{Flags: flags, Variables: cache}

// cache names the credential cache. If the program logs in by it, a command that could use it could do all that the
// program may do.
var cache = []string{"KRB5CCNAME"}

// flags adds the flags to those of a command.
func flags(f *pflag.FlagSet) func() (program.Identity, error) {
	var o kerberos.Options
	f.StringVar(&o.Principal, "principal", "",
		"log in by Kerberos as name@REALM, with --keytab or the tickets of kinit (KRB5CCNAME); KRB5_CONFIG\n"+
			"names the configuration")
	f.StringVar(&o.Keytab, "keytab", "", "file with the key of --principal")
	f.StringVar(&o.ServerPrincipal, "server-principal", "",
		"principal of all servers, as name/host@REALM (default zookeeper/ and the host in --servers)")
	f.BoolVar(&o.Canonical, "canonicalize", false,
		"take the host that the domain name system has for the server's address")
	f.BoolVar(&o.Mutual, "mutual", false, "have the server answer with its own proof, too")
	return func() (id program.Identity, err error) {
		if o.Principal == "" {
			if o != (kerberos.Options{}) {
				return id, errors.New("the flags of Kerberos go with --principal: give --principal name@REALM, too")
			}
			return id, nil
		}
		m, err := kerberos.New(o)
		if err != nil {
			return id, err
		}
		id.Mechanism = m
		if o.Keytab == "" {
			id.Variables = cache
		} else {
			id.Secrets = []string{o.Keytab}
		}
		return id, nil
	}
}
