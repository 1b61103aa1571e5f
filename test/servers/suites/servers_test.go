//go:build unix

package suites

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// servers are what a suite's harness starts when it starts java or zkServer.sh.
type servers struct {
	name string
	env  []string
	hub  bool // they are zkmem
}

// options make java start sooner. The last ones are those of package realzk.
const options = "JAVA_TOOL_OPTIONS=-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 " +
	"-Dzookeeper.admin.enableServer=false " +
	"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn -Dzookeeper.forceSync=no -Dzookeeper.preAllocSize=1024"

// onReal returns the servers of a real ZooKeeper.
func onReal(t *testing.T) servers {
	t.Helper()
	realzk.Require(t)
	bin := t.TempDir()
	script(t, bin, "zkServer.sh", startsJava)
	env := []string{"ZOOKEEPER_BIN_PATH=" + bin, "ZOOKEEPER_CLASSPATH=" + realzk.ClassPath(), options}
	return servers{name: "ZooKeeper", env: env}
}

// onZkmem returns servers that are this program in place of java.
func onZkmem(t *testing.T) servers {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script(t, bin, "zkServer.sh", startsJava)
	script(t, bin, "java", `exec "`+self+`" "$@"`)
	path := "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	env := []string{path, hubVariable + "=" + newHub(t).addr(), "ZOOKEEPER_BIN_PATH=" + bin, "ZOOKEEPER_CLASSPATH=none"}
	return servers{name: "zkmem", env: env, hub: true}
}

// startsJava is what ZooKeeper's own script does with "start-foreground" and a zoo.cfg.
const startsJava = `exec java $SERVER_JVMFLAGS -cp "$ZOOKEEPER_CLASSPATH" ` +
	`org.apache.zookeeper.server.quorum.QuorumPeerMain "$2"`

func script(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}
