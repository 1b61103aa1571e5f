//go:build unix

package suites

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/incumbent-go/incumbent/test/kit/peers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// sources is Curator's source release, in .cache/zips. It has the tests that no jar has.
const sources = "apache-curator-5.9.0"

// fromSources returns the suite of a module of Curator whose tests are compiled from the source release.
func fromSources(module string) func(*testing.T) suite {
	return func(t *testing.T) suite {
		t.Helper()
		release, err := zip.OpenReader("../../../.cache/zips/" + sources + "-source-release.zip")
		if err != nil {
			realzk.NotRun(t, "the tests of "+module+" ("+err.Error()+": make foreign fetches it)")
		}
		defer release.Close()
		found := peers.FindCurator(t)
		// Without the jars of tests: a class of x-async's has the name of one of the framework's.
		found.Jars = append(found.Jars, peers.Jars(t, "the tests of "+module,
			append([]string{module + "-5.9.0"}, testJars[len(withTests):]...)...)...)
		folder := sources + "/" + module + "/src/test/java/"
		files, names, err := unpackTests(&release.Reader, folder, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		classes := t.TempDir()
		compile(t, found.ClassPath(), classes, files...)
		return newJava(t, found, classes).suite(func(*testing.T) []string { return names })
	}
}

// unpackTests writes the sources in a folder of a release into another folder. It returns their paths, and the names of
// the classes of tests as classesOf does.
func unpackTests(release fs.FS, folder, into string) (files, classes []string, err error) {
	err = fs.WalkDir(release, strings.TrimSuffix(folder, "/"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".java") {
			return err
		}
		local := strings.TrimPrefix(name, folder)
		file := filepath.Join(into, filepath.FromSlash(local))
		text, err := fs.ReadFile(release, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600))
		if err != nil {
			return err
		}
		files = append(files, file)
		class := strings.ReplaceAll(strings.TrimSuffix(local, ".java"), "/", ".")
		base := class[strings.LastIndexByte(class, '.')+1:]
		if strings.HasPrefix(base, "Test") || strings.HasSuffix(base, "Test") {
			classes = append(classes, strings.TrimPrefix(class, curatorsPackage))
		}
		return nil
	})
	if err == nil && len(classes) == 0 {
		err = errors.New(folder + " has no class of tests")
	}
	slices.Sort(classes)
	return files, classes, err
}

func TestTheTestsOfARelease(t *testing.T) {
	into := t.TempDir()
	folder := "release/module/src/test/java/"
	release := fstest.MapFS{}
	for _, name := range []string{"Base.java", "TestOne.java", "x/OtherTest.java", "log4j.properties"} {
		release[folder+"org/apache/curator/"+name] = &fstest.MapFile{Data: []byte(name)}
	}
	files, classes, err := unpackTests(release, folder, into)
	if err != nil || len(files) != 3 || !slices.Equal(classes, []string{"TestOne", "x.OtherTest"}) {
		t.Errorf("files %q, classes %q, %v", files, classes, err)
	}
	for _, file := range files {
		local := strings.TrimPrefix(file, filepath.Join(into, "org", "apache", "curator")+"/")
		if text, err := os.ReadFile(file); err != nil || string(text) != local {
			t.Errorf("%s has %q, %v", file, text, err)
		}
	}
	if _, _, err := unpackTests(fstest.MapFS{folder + "Base.java": {}}, folder, t.TempDir()); err == nil {
		t.Error("a release without tests: no error")
	}
}
