package program

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// saslPassword is the variable that holds the password of --sasl.
const saslPassword = "INCUMBENT_SASL_PASSWORD"

// maxSecretFile is the size in bytes of the largest file with a password.
const maxSecretFile = 64 << 10

// saslFlags say how the program logs in.
type saslFlags struct{ identity, passwordFile string }

func (s *saslFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.identity, "sasl", "", "log in by SASL, as digest:USER (DIGEST-MD5)")
	f.StringVar(&s.passwordFile, "sasl-password-file", "",
		"file with the password of --sasl; without it, "+saslPassword+
			" holds it")
}

// mechanism returns the mechanism, nil for none. Its errors repeat nothing that may be a password. It calls opened with
// the file of a password.
func (s *saslFlags) mechanism(opened func(*os.File)) (incumbent.Mechanism, error) {
	switch {
	case s.identity == "" && s.passwordFile != "":
		return nil, cli.Usage("--sasl-password-file goes with --sasl: give --sasl digest:USER, too")
	case s.identity == "":
		return nil, nil
	}
	scheme, user, _ := strings.Cut(s.identity, ":")
	if scheme != "digest" || user == "" || strings.Contains(user, ":") {
		return nil, cli.Usage("--sasl is written digest:USER, and USER has no colon: the password is in "+
			"--sasl-password-file, or in %s", saslPassword)
	}
	password, err := s.password(opened)
	if err != nil {
		return nil, err
	}
	return incumbent.DigestMD5(user, password), nil
}

// password reads the password.
func (s *saslFlags) password(opened func(*os.File)) (string, error) {
	if s.passwordFile == "" {
		if password := os.Getenv(saslPassword); password != "" {
			return password, nil
		}
		return "", cli.Usage("--sasl needs a password: give --sasl-password-file, or set %s", saslPassword)
	}
	return readPassword("--sasl-password-file", s.passwordFile, opened)
}

// readPassword reads the file with a password that a flag names. It calls opened with it.
func readPassword(flag, name string, opened func(*os.File)) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", cli.Usage("%s: %w", flag, err)
	}
	defer f.Close()
	opened(f)
	text, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case err != nil:
		return "", cli.Usage("%s: %w", flag, err)
	case len(text) > maxSecretFile || strings.Contains(password, "\n"):
		return "", cli.Usage("%s %s: write the password into it, as its one line", flag,
			events.Quote(name, events.MaxText))
	case password == "":
		return "", cli.Usage("%s %s is empty: write the password into it", flag, events.Quote(name, events.MaxText))
	}
	return password, nil
}
