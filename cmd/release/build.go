package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// program is the folder of the main package that is released.
const program = "cmd/incumbent"

// platform is what a program is built for.
type platform struct{ goos, goarch string }

func (p platform) String() string { return p.goos + "_" + p.goarch }

// binary is the file name of the program.
func (p platform) binary() string {
	if p.goos == "windows" {
		return "incumbent.exe"
	}
	return "incumbent"
}

// built is a program that was built.
type built struct {
	platform
	bytes []byte
	info  *debug.BuildInfo
}

// workshop is a place to build in, which shares nothing with another one, except where it is given the build cache.
type workshop struct {
	dir string   // the go command's GOPATH and module cache
	env []string // of the go command
}

// newWorkshop returns a place to build in, below dir. If cache is empty, everything is compiled there, the standard
// library included.
func newWorkshop(ctx context.Context, dir, proxy, cache, toolchain string) (*workshop, error) {
	if cache == "" {
		cache = filepath.Join(dir, "cache")
	}
	// Modules come from this machine's cache if they are there.
	known, err := output(ctx, ".", nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	modules, others, _ := strings.Cut(strings.TrimSpace(known), "\n")
	proxies := []string{fileURL(proxy), fileURL(filepath.Join(modules, "cache", "download")), others}
	w := &workshop{dir: dir, env: append(os.Environ(),
		"GOTOOLCHAIN="+toolchain, "GOENV=off", "GOWORK=off", "GOFLAGS=-trimpath -ldflags=-w -modcacherw",
		"GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
		"GOPATH="+dir, "GOBIN=", "GOCACHE="+cache, "GOMODCACHE="+filepath.Join(dir, "modules"),
		"GOPROXY="+strings.Join(proxies, ","),
		// The version is in no checksum database yet. What it links is compared with go.sum: see linked.
		"GOSUMDB=off", "GOPRIVATE=", "GONOPROXY=", "GONOSUMDB=",
	)}
	return w, os.MkdirAll(dir, 0o755)
}

func fileURL(dir string) string { return "file://" + filepath.ToSlash(dir) }

// install builds the released program.
func (w *workshop) install(ctx context.Context, module, version string, p platform) (*built, error) {
	env := append(w.env[:len(w.env):len(w.env)], "GOOS="+p.goos, "GOARCH="+p.goarch)
	if _, err := output(ctx, w.dir, env, "go", "install", module+"/"+program+"@"+version); err != nil {
		return nil, err
	}
	file := filepath.Join(w.dir, "bin", p.goos+"_"+p.goarch, p.binary()) // of another platform
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		file = filepath.Join(w.dir, "bin", p.binary()) // of this one
	}
	b := &built{platform: p}
	var err error
	if b.bytes, err = os.ReadFile(file); err == nil {
		b.info, err = buildinfo.Read(bytes.NewReader(b.bytes))
	}
	return b, err
}

// build builds all programs, the first one twice, and writes their archives and SBOMs. It returns the checksum of the
// module.
func (r *release) build(ctx context.Context, src *source) (sum string, err error) {
	temp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	proxy := filepath.Join(temp, "proxy")
	if err := src.writeProxy(proxy, r.version); err != nil {
		return "", err
	}
	env := append(os.Environ(), "GOTOOLCHAIN="+src.toolchain)
	goroot, err := output(ctx, r.root, env, "go", "env", "GOROOT", "GOCACHE")
	if err != nil {
		return "", err
	}
	goroot, cache, _ := strings.Cut(strings.TrimSpace(goroot), "\n")
	ours, err := os.ReadFile(filepath.Join(goroot, "LICENSE"))
	if err != nil {
		return "", fmt.Errorf("the licence of Go, which goes with each program: %w", err)
	}
	first, err := newWorkshop(ctx, filepath.Join(temp, "first"), proxy, cache, src.toolchain)
	if err != nil {
		return "", err
	}
	for i, p := range r.platforms {
		fmt.Fprintln(r.out, "release: building", p)
		b, err := first.install(ctx, src.module, r.version, p)
		if err != nil {
			return "", err
		}
		if i == 0 {
			if err := r.again(ctx, filepath.Join(temp, "second"), proxy, src, b); err != nil {
				return "", err
			}
		}
		if err := r.pack(src, b, ours); err != nil {
			return "", err
		}
		sum = b.info.Main.Sum
	}
	return sum, nil
}

// again builds a program once more, elsewhere and with nothing from the build cache, and compares the bytes.
func (r *release) again(ctx context.Context, dir, proxy string, src *source, b *built) error {
	fmt.Fprintln(r.out, "release: building", b.platform, "again, to compare the bytes")
	second, err := newWorkshop(ctx, dir, proxy, "", src.toolchain)
	if err != nil {
		return err
	}
	other, err := second.install(ctx, src.module, r.version, b.platform)
	if err != nil {
		return err
	}
	return same(b, other)
}

// same returns an error if two programs are not the same bytes.
func same(a, b *built) error {
	if !bytes.Equal(a.bytes, b.bytes) {
		return fmt.Errorf("two builds for %s differ: their SHA-256 are %x and %x",
			a.platform, sha256.Sum256(a.bytes), sha256.Sum256(b.bytes))
	}
	return nil
}
