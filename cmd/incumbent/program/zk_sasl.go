package program

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/digestmd5"
)

// loadUsers reads the passwords of the users who can log in. It calls opened with each file.
func (f *zkFlags) loadUsers(opened func(*os.File)) error {
	f.options.SASLUsers = map[string]string{}
	for _, given := range f.saslUsers {
		user, file, found := strings.Cut(given, "=")
		if !found || user == "" || file == "" {
			return cli.Usage("--sasl-user is written USER=FILE, and the password is the one line of FILE")
		}
		if _, twice := f.options.SASLUsers[user]; twice {
			return cli.Usage("--sasl-user: %s is given twice", events.Quote(user, events.MaxName))
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return cli.Usage("--sasl-user %s=…: there is no such file (it is not shown: it may be a password)",
				events.Quote(user, events.MaxName))
		}
		password, err := readPassword("--sasl-user", file, opened)
		if err != nil {
			return err
		}
		if err := digestmd5.NewClient(user, password).Check(); err != nil {
			return cli.Usage("--sasl-user: %w", err)
		}
		f.options.SASLUsers[user] = password
	}
	return nil
}
