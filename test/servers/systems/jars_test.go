package systems

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// jarsTable is the list of the systems' jars: see scripts/lock.
//
//go:embed jars.tsv
var jarsTable string

// jarsOf returns the names of a system's jars, without their folder.
func jarsOf(table, key string) (names []string) {
	for lines := bufio.NewScanner(strings.NewReader(table)); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 5 || fields[0] != key {
			continue
		}
		name := strings.SplitN(fields[2], ":", 3)
		file := name[1] + "-" + fields[3]
		if len(name) == 3 {
			file += "-" + name[2]
		}
		names = append(names, file+".jar")
	}
	return names
}

func TestAJarHasItsName(t *testing.T) {
	table := "# a = g:x:1\na\tjar\tg:x\t1\tsum\na\tjar\tg:y:linux\t2\tsum\nb\tjar\tg:z\t3\tsum\n"
	if got := fmt.Sprint(jarsOf(table, "a")); got != "[x-1.jar y-2-linux.jar]" {
		t.Error(got)
	}
}

const cache = "../../../.cache/jars"

// classPath compiles a system's program, and returns its class path. Where something is missing the test is
// skipped, or fails if everything is required.
func (s *system) classPath(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			realzk.NotRun(t, s.name+" (no "+tool+": make deps)")
		}
	}
	paths := []string{t.TempDir()}
	for _, jar := range jarsOf(jarsTable, s.key) {
		path, err := filepath.Abs(filepath.Join(cache, jar))
		ok(t, err)
		if _, err := os.Stat(path); err != nil {
			realzk.NotRun(t, s.name+" (no "+jar+": bash scripts/fetch "+s.key+" test/servers/systems/jars.tsv)")
		}
		paths = append(paths, path)
	}
	var sources []string
	for _, folder := range []string{"program", s.sources()} {
		found, err := filepath.Glob(filepath.Join(folder, "*.java"))
		ok(t, err)
		sources = append(sources, found...)
	}
	settings, err := filepath.Abs("program") // of the loggers
	ok(t, err)
	all := strings.Join(append(paths, settings), string(filepath.ListSeparator))
	arguments := append([]string{"-J-Xmx256m", "-nowarn", "-proc:none", "-cp", all, "-d", paths[0]}, sources...)
	if said, err := exec.Command("javac", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, said)
	}
	return all
}
