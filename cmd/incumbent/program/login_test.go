package program

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
)

// loginOf is a login whose flags say this.
func loginOf(id Identity, err error) Login {
	return Login{Flags: func(*pflag.FlagSet) func() (Identity, error) {
		return func() (Identity, error) { return id, err }
	}}
}

// Of the logins that a main adds, the one that the flags ask for is used, and its variables are for the program alone.
func TestTheLoginThatIsUsed(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "keytab")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := incumbent.DigestMD5("a", "x"), incumbent.DigestMD5("b", "x")
	none := loginOf(Identity{Variables: []string{"UNUSED"}}, nil)
	secrets := []string{secret, secret + "-missing"}
	first := loginOf(Identity{Mechanism: a, Variables: []string{"OF_A"}, Secrets: secrets}, nil)
	for name, test := range map[string]struct {
		logins []Login
		before incumbent.Mechanism // of the program's own flags
		want   incumbent.Mechanism
		fails  string
	}{
		"none":            {[]Login{none}, nil, nil, ""},
		"the program's":   {[]Login{none}, b, b, ""},
		"the first":       {[]Login{first, none}, nil, a, ""},
		"the second":      {[]Login{none, first}, nil, a, ""},
		"two of a main":   {[]Login{first, loginOf(Identity{Mechanism: b}, nil)}, nil, nil, "two logins are given"},
		"and the program": {[]Login{first}, b, nil, "two logins are given"},
		"a bad flag":      {[]Login{loginOf(Identity{}, errors.New("no such cache"))}, nil, nil, "no such cache"},
	} {
		t.Run(name, func(t *testing.T) {
			var l loginFlags
			l.flags(test.logins, pflag.NewFlagSet("", pflag.ContinueOnError))
			var opened, variables []string
			got, err := l.mechanism(test.before, func(f *os.File) { opened = append(opened, f.Name()) })
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%v, want %q", err, test.fails)
				}
				return
			}
			if test.want == a {
				variables = []string{"OF_A"}
				if !slices.Equal(opened, []string{secret}) {
					t.Errorf("%q are secrets", opened)
				}
			}
			if err != nil || got != test.want || !slices.Equal(l.variables, variables) {
				t.Errorf("%v with the variables %q, want %v with %q: %v", got, l.variables, test.want, variables, err)
			}
		})
	}
}
