package main

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// source is what is released: the files of one commit.
type source struct {
	commit    string
	time      time.Time         // of the commit, UTC
	files     map[string][]byte // by path, all of the commit's
	module    string            // the root module's path
	toolchain string            // that go.mod names
}

// versions are those that a Go module may have as a release: no build metadata.
var versions = regexp.MustCompile(
	`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// checkVersion refuses what is no version of this module.
func checkVersion(version string) error {
	switch m := versions.FindStringSubmatch(version); {
	case m == nil:
		return fmt.Errorf("VERSION=%s: want one such as VERSION=v0.1.0", version)
	case m[1] != "0" && m[1] != "1":
		return fmt.Errorf("VERSION=%s: want v0 or v1: others need a module path that ends in /v%s", version, m[1])
	}
	return nil
}

var (
	moduleLine    = regexp.MustCompile(`(?m)^module (\S+)$`)
	toolchainLine = regexp.MustCompile(`(?m)^toolchain (go\S+)$`)
)

// export reads the files of the commit that is checked out.
func (r *release) export(ctx context.Context) (*source, error) {
	head, err := r.git(ctx, "log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(head), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the time of the commit: %w", err)
	}
	archive, err := r.git(ctx, "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	src := &source{commit: commit, time: time.Unix(unix, 0).UTC()}
	if src.files, err = untar(archive); err != nil {
		return nil, err
	}
	for _, name := range []string{"go.mod", "go.sum", "LICENSE", "THIRD_PARTY.md", "CHANGELOG.md"} {
		if src.files[name] == nil {
			return nil, fmt.Errorf("the commit has no %s", name)
		}
	}
	mod := src.files["go.mod"]
	module, toolchain := moduleLine.FindSubmatch(mod), toolchainLine.FindSubmatch(mod)
	if module == nil || toolchain == nil {
		return nil, errors.New("go.mod: want a module line and a toolchain line")
	}
	src.module, src.toolchain = string(module[1]), string(toolchain[1])
	return src, nil
}

// untar returns the regular files of an archive.
func untar(archive string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for t := tar.NewReader(strings.NewReader(archive)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			files[h.Name], err = io.ReadAll(t)
		}
		if err != nil {
			return nil, err
		}
	}
}

// ofModule lists the files of the module in dir ("." for the root), in order: without those of modules below it, and
// vendored ones.
func (s *source) ofModule(dir string) (names []string) {
	for name := range s.files {
		if dir != "." && !strings.HasPrefix(name, dir+"/") || strings.Contains("/"+name, "/vendor/") {
			continue
		}
		owner := path.Dir(name)
		for owner != "." && s.files[owner+"/go.mod"] == nil {
			owner = path.Dir(owner)
		}
		if owner == dir {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// writeProxy writes a module proxy with this version of the root module into dir: see
// https://go.dev/ref/mod#goproxy-protocol.
func (s *source) writeProxy(dir, version string) error {
	dir = filepath.Join(dir, filepath.FromSlash(s.module), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, s.time.Format(time.RFC3339)),
		version + ".mod":  string(s.files["go.mod"]),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	for _, name := range s.ofModule(".") {
		w, err := z.Create(s.module + "@" + version + "/" + name)
		if err == nil {
			_, err = w.Write(s.files[name])
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(z.Close(), f.Close())
}
