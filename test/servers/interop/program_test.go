package interop

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// curator has the programs of java, compiled once.
var curator program

type program struct {
	once sync.Once
	dir  string
	all  []string // options of each program
	err  error
}

// options compiles the programs of java, and returns the options with which one runs. Where there is no Curator the
// test is skipped, or fails if everything is required.
func (p *program) options(t testing.TB) []string {
	t.Helper()
	c := peers.FindCurator(t)
	p.once.Do(func() { p.err = p.compile(c) })
	ok(t, p.err)
	return p.all
}

// compile compiles the programs, and archives the classes that they load, so that each starts in half the time.
func (p *program) compile(c peers.Curator) (err error) {
	if p.dir, err = os.MkdirTemp("", "interop-"); err != nil {
		return err
	}
	sources, err := filepath.Glob(filepath.Join("java", "*.java"))
	if err != nil {
		return err
	}
	classes, jar := filepath.Join(p.dir, "classes"), filepath.Join(p.dir, "programs.jar")
	archive := filepath.Join(p.dir, "archive")
	arguments := append([]string{"-J-Xmx128m", "-cp", c.ClassPath(), "-d", classes}, sources...)
	if out, err := exec.Command("javac", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w\n%s", err, out)
	}
	if err := pack(classes, jar); err != nil {
		return err
	}
	same := []string{"-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", c.ClassPath(jar)}
	arguments = append([]string{"-XX:ArchiveClassesAtExit=" + archive}, append(same, "Warm")...)
	if out, err := exec.Command("java", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("java Warm: %w\n%s", err, out)
	}
	p.all = append([]string{"-Xshare:auto", "-XX:SharedArchiveFile=" + archive}, same...)
	return nil
}

// pack writes the files of a folder into a jar: the archive takes no classes from folders.
func pack(folder, jar string) error {
	file, err := os.Create(jar)
	if err != nil {
		return err
	}
	w := zip.NewWriter(file)
	if err := w.AddFS(os.DirFS(folder)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return file.Close()
}

func (p *program) remove() {
	if p.dir != "" {
		os.RemoveAll(p.dir)
	}
}
