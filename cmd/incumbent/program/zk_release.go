package program

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// releaseFlags adds the flags that say which ZooKeeper is imitated.
func (f *zkFlags) releaseFlags(flags *pflag.FlagSet) {
	f.options.Release = zkmem.Release39
	flags.StringVar((*string)(&f.options.Release), "release", string(zkmem.Release39),
		"the release of ZooKeeper that is imitated: 3.9 or 3.8.0")
	flags.StringSliceVar(&f.options.EnforceAuth, "enforce-auth", nil,
		"enforce.auth.schemes: serve only clients with an identity of one of these schemes")
}

// checkRelease refuses a release and schemes that the server does not know.
func (f *zkFlags) checkRelease() error {
	if r := f.options.Release; r != zkmem.Release39 && r != zkmem.Release38 {
		return cli.Usage("--release %s: give %s or %s", events.Quote(string(r), events.MaxName), zkmem.Release39,
			zkmem.Release38)
	}
	for _, scheme := range f.options.EnforceAuth {
		if !slices.Contains(zkmem.Schemes(), scheme) {
			return cli.Usage("--enforce-auth %s: the schemes are %s", events.Quote(scheme, events.MaxName),
				strings.Join(zkmem.Schemes(), ", "))
		}
	}
	return nil
}
