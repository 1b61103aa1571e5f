package elasticjob

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// generation is one of ElasticJob's: the folder of its program, and the jars of scripts/downloads.tsv that it
// needs.
type generation struct {
	version, sources string
	jars             []string

	once    sync.Once
	classes string
	err     error
}

var shared = []string{"slf4j-api-1.7.36", "slf4j-simple-1.7.36"}

var newer = &generation{version: "3.0.4", sources: "java3", jars: append([]string{
	"commons-lang3-3.12.0", "curator-client-5.5.0", "curator-framework-5.5.0", "curator-recipes-5.5.0",
	"elasticjob-api-3.0.4", "elasticjob-dataflow-executor-3.0.4", "elasticjob-error-handler-general-3.0.4",
	"elasticjob-error-handler-spi-3.0.4",
	"elasticjob-executor-kernel-3.0.4", "elasticjob-http-executor-3.0.4", "elasticjob-infra-common-3.0.4",
	"elasticjob-lite-core-3.0.4", "elasticjob-registry-center-api-3.0.4",
	"elasticjob-registry-center-zookeeper-curator-3.0.4", "elasticjob-script-executor-3.0.4",
	"elasticjob-simple-executor-3.0.4", "elasticjob-tracing-api-3.0.4", "failureaccess-1.0.1", "guava-32.1.2-jre",
	"quartz-2.3.2", "snakeyaml-2.2", "zookeeper-3.7.1", "zookeeper-jute-3.7.1",
}, shared...)}

var older = &generation{version: "2.1.5", sources: "java2", jars: append([]string{
	"commons-lang3-3.4", "curator-client-2.10.0", "curator-framework-2.10.0", "curator-recipes-2.10.0",
	"elastic-job-common-core-2.1.5", "elastic-job-lite-core-2.1.5", "gson-2.6.1", "guava-18.0", "quartz-2.2.1",
	"zookeeper-3.4.6",
}, shared...)}

const cache = "../../../.cache/jars"

// classPath compiles the generation's program, once, and returns its class path. Where something is missing the
// test is skipped, or fails if everything is required.
func (g *generation) classPath(t testing.TB) string {
	t.Helper()
	var paths []string
	for _, jar := range g.jars {
		path, err := filepath.Abs(filepath.Join(cache, jar+".jar"))
		ok(t, err)
		if _, err := os.Stat(path); err != nil {
			realzk.NotRun(t, "ElasticJob "+g.version+" (no "+jar+".jar: make deps)")
		}
		paths = append(paths, path)
	}
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			realzk.NotRun(t, "ElasticJob "+g.version+" (no "+tool+")")
		}
	}
	g.once.Do(func() { g.compile(strings.Join(paths, ":")) })
	ok(t, g.err)
	return g.classes + ":" + strings.Join(paths, ":")
}

func (g *generation) compile(classPath string) {
	if g.classes, g.err = os.MkdirTemp("", "elasticjob-"); g.err != nil {
		return
	}
	sources, err := filepath.Glob(filepath.Join(g.sources, "*.java"))
	if err != nil {
		g.err = err
		return
	}
	arguments := append([]string{"-J-Xmx128m", "-cp", classPath, "-d", g.classes}, sources...)
	out, err := exec.Command("javac", arguments...).CombinedOutput()
	if err != nil {
		g.err = fmt.Errorf("javac: %w\n%s", err, out)
	}
}

func (g *generation) remove() {
	if g.classes != "" {
		os.RemoveAll(g.classes)
	}
}
