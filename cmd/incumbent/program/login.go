package program

import (
	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// Login is a login by SASL that a main adds to the program.
type Login struct {
	// Flags adds the flags of the login to those of a command. The function that it returns is called when the command
	// runs, and returns the mechanism, or nil if no flag asks for it. Its error is one of the command line.
	Flags func(*pflag.FlagSet) func() (incumbent.Mechanism, error)
	// Variables are those of the environment that are for the program alone: without --pass-auth, the command of elect
	// and lock has none of them.
	Variables []string
}

// variablesOf returns the variables of all logins.
func variablesOf(logins []Login) (names []string) {
	for _, login := range logins {
		names = append(names, login.Variables...)
	}
	return names
}

// loginFlags are what the flags of logins say.
type loginFlags []func() (incumbent.Mechanism, error)

// flags adds the flags of the logins.
func (l *loginFlags) flags(logins []Login, f *pflag.FlagSet) {
	for _, login := range logins {
		*l = append(*l, login.Flags(f))
	}
}

// mechanism returns the one mechanism of the flags, nil for none. There may be one already.
func (l loginFlags) mechanism(mechanism incumbent.Mechanism) (incumbent.Mechanism, error) {
	for _, login := range l {
		m, err := login()
		switch {
		case err != nil:
			return nil, cli.Usage("%w", err)
		case m != nil && mechanism != nil:
			return nil, cli.Usage("two logins are given, %s and %s: give one", mechanism.Name(), m.Name())
		case m != nil:
			mechanism = m
		}
	}
	return mechanism, nil
}
