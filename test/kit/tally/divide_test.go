package main

import (
	"fmt"
	"slices"
	"testing"
)

// What has nothing for the race detector runs without it, and nothing runs twice or not at all.
func TestSomePackagesAreProvedWithoutTheRaceDetector(t *testing.T) {
	sum := newTally(t.Output(), false)
	sum.proves = true
	var packages []string
	for _, dir := range []string{"", "/machines", "/zkio", "/test/servers/chaos", "/test/servers/suite"} {
		packages = append(packages, module+dir)
	}
	args := []string{"-race", "-p", "6", "./..."}
	got := fmt.Sprint(sum.divide(args, packages))
	want := fmt.Sprintf("[[-race -p 6 %[1]s %[1]s/zkio %[1]s/test/servers/suite -p 4] "+
		"[-p 6 %[1]s/machines %[1]s/test/servers/chaos -p 4]]", module)
	if got != want {
		t.Errorf("go test is given\n\t%s\nwant\n\t%s", got, want)
	}
	for dir, want := range map[string]string{
		"bench":              "[[-p 6 x -p 1]]",
		"docs/examples/grpc": "[[-p 6 x -p 1]]",
		"integrations/grpc":  "[[-race -p 6 ./... -p 1]]",
	} {
		if got := fmt.Sprint(sum.ofNested("top", "top/"+dir, args, []string{"x"})); got != want {
			t.Errorf("go test in %s is given %s, want %s", dir, got, want)
		}
	}
	sum.proves = false // make race
	if got := sum.divide(args, packages); len(got) != 1 || len(got[0]) != len(args)-1+len(packages) {
		t.Errorf("make race is divided: %s", got)
	}
	if got := sum.ofNested(".", "bench", args, nil); !slices.Contains(got[0], "-race") {
		t.Errorf("make race leaves out a module: %s", got)
	}
}
