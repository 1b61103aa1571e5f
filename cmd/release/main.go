// Command release makes what a version of this project publishes, in a folder: the program incumbent for three systems
// on two architectures, an SBOM and the licences for each, checksums, and the changelog's new section. It says what to
// commit, tag and push, and does none of it. `make release VERSION=v0.1.0` runs it.
//
// The programs are those that `CGO_ENABLED=0 go install -trimpath -ldflags=-w MODULE/cmd/incumbent@VERSION` builds once
// the tag is pushed: the module is put into a module proxy of files, and built from there. So they name their version,
// and anybody can build the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// platforms are what the program is built for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// release is what is asked for.
type release struct {
	root      string // the checkout
	version   string // v0.1.0
	dir       string // the folder to write to
	prove     bool   // run make prove first
	platforms []platform
	out       io.Writer // progress, and what to do next
}

// errUsage is an error of the arguments.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := parse(os.Args[1:])
	if err == nil {
		err = r.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		if errors.Is(err, errUsage) {
			os.Exit(64)
		}
		os.Exit(1)
	}
}

// parse reads the arguments, as the Makefile gives them: what is not set is empty.
func parse(args []string) (*release, error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	version := flags.String("version", "", "the version, such as v0.1.0")
	dir := flags.String("dir", "", "a folder that is empty or missing; .cache/release/VERSION by default")
	prove := flags.String("prove", "", "no: without make prove, for a trial")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%w: %q is no flag: want -version, -dir and -prove only", errUsage, flags.Args())
	}
	if err := checkVersion(*version); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if *prove != "" && *prove != "yes" && *prove != "no" {
		return nil, fmt.Errorf("%w: PROVE=%s: want yes or no", errUsage, *prove)
	}
	if *dir == "" {
		*dir = filepath.Join(".cache", "release", *version)
	}
	abs, err := filepath.Abs(*dir)
	if err != nil {
		return nil, err
	}
	r := &release{root: ".", version: *version, dir: abs, prove: *prove != "no", platforms: platforms, out: os.Stdout}
	return r, nil
}

// run makes the release. It writes nothing before everything is checked and the proofs have passed, and leaves nothing
// behind if it fails.
func (r *release) run(ctx context.Context) (err error) {
	src, err := r.check(ctx)
	if err != nil {
		return err
	}
	changes, err := moveUnreleased(string(src.files["CHANGELOG.md"]), r.version, src.time)
	if err != nil {
		return err
	}
	others, err := r.integrations(ctx, src)
	if err != nil {
		return err
	}
	if err := r.proofs(ctx); err != nil {
		return err
	}
	src.files["CHANGELOG.md"] = []byte(changes)
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(r.dir)) // it was empty
		}
	}()
	sum, err := r.build(ctx, src)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, "CHANGELOG.md"), []byte(changes), 0o644); err != nil {
		return err
	}
	if err := writeChecksums(r.dir); err != nil {
		return err
	}
	steps, err := r.steps(src, others, sum)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "\n%s", steps)
	return os.WriteFile(filepath.Join(r.dir, "NEXT.txt"), []byte(steps), 0o644)
}

// check refuses what must not be released, and returns what is.
func (r *release) check(ctx context.Context) (*source, error) {
	if left, err := os.ReadDir(r.dir); err == nil && len(left) > 0 {
		return nil, fmt.Errorf("the folder %s is not empty: remove it, or give another one, DIR=/tmp/release", r.dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the folder to write to: %w", err)
	}
	if err := r.clean(ctx); err != nil {
		return nil, err
	}
	src, err := r.export(ctx)
	if err != nil {
		return nil, err
	}
	if tag, _ := r.git(ctx, "tag", "--list", r.version); strings.TrimSpace(tag) != "" {
		return nil, fmt.Errorf("the tag %s exists: want a version that was not released", r.version)
	}
	if runtime.Version() != src.toolchain {
		return nil, fmt.Errorf("this is %s, and go.mod's toolchain is %s: run make release, which fetches that one",
			runtime.Version(), src.toolchain)
	}
	return src, nil
}

// clean returns an error if the checkout has changes that are not committed.
func (r *release) clean(ctx context.Context) error {
	status, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if lines := strings.Split(strings.TrimRight(status, "\n"), "\n"); status != "" {
		return fmt.Errorf("%d files are changed and not committed: commit or remove them first: %s",
			len(lines), strings.Join(lines[:min(5, len(lines))], ", "))
	}
	return nil
}

// proofs runs make prove, unless it is a trial. The proofs change nothing that is committed.
func (r *release) proofs(ctx context.Context) error {
	if !r.prove {
		fmt.Fprintln(r.out, "release: make prove is skipped (PROVE=no): this is a trial")
		return nil
	}
	fmt.Fprintln(r.out, "release: make prove")
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "prove")
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, r.out, r.out
	// The variables of the make that runs this program, such as VERSION, are not those of the proofs.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKEFLAGS=") || strings.HasPrefix(v, "MAKEOVERRIDES=")
	})
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make prove failed (%w): nothing was built", err)
	}
	return r.clean(ctx)
}

// git runs git in the checkout, and returns what it prints.
func (r *release) git(ctx context.Context, args ...string) (string, error) {
	return output(ctx, r.root, nil, "git", args...)
}

// output runs a command and returns what it prints. Its error has what the command says of it.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		said := strings.TrimSpace(string(failed.Stderr))
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, said)
	}
	return string(out), err
}
