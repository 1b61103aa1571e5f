package program

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// Login is a login by SASL that a main adds to the program.
type Login struct {
	// Flags adds the flags of the login to those of a command. The function that it returns is called when the command
	// runs. Its error is one of the command line.
	Flags func(*pflag.FlagSet) func() (Identity, error)
	// Variables are all that an Identity can have. The help of --pass-auth names them.
	Variables []string
}

// Identity is what the flags of a login say.
type Identity struct {
	// Mechanism is nil if no flag asks for the login.
	Mechanism incumbent.Mechanism
	// Variables of the environment are for the program alone: without --pass-auth, the command of elect and lock has
	// none of them.
	Variables []string
	// Secrets are files that nobody else should read: the program says so if others may.
	Secrets []string
}

// variablesOf returns the variables of all logins, for the help: "A, " for each.
func variablesOf(logins []Login) (names string) {
	for _, login := range logins {
		for _, name := range login.Variables {
			names += name + ", "
		}
	}
	return names
}

// loginFlags are what the flags of logins say.
type loginFlags struct {
	of        []func() (Identity, error)
	variables []string // of the login that is used
}

// flags adds the flags of the logins.
func (l *loginFlags) flags(logins []Login, f *pflag.FlagSet) {
	for _, login := range logins {
		l.of = append(l.of, login.Flags(f))
	}
}

// mechanism returns the one mechanism of the flags, nil for none. There may be one already.
func (l *loginFlags) mechanism(mechanism incumbent.Mechanism, secret func(*os.File)) (incumbent.Mechanism, error) {
	for _, login := range l.of {
		id, err := login()
		switch {
		case err != nil:
			return nil, cli.Usage("%w", err)
		case id.Mechanism != nil && mechanism != nil:
			return nil, cli.Usage("two logins are given, %s and %s: give one", mechanism.Name(), id.Mechanism.Name())
		case id.Mechanism != nil:
			mechanism, l.variables = id.Mechanism, id.Variables
		}
		for _, path := range id.Secrets {
			if f, err := os.Open(path); err == nil { // if not, the login says so
				secret(f)
				f.Close()
			}
		}
	}
	return mechanism, nil
}
