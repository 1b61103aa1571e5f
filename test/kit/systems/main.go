// Command systems checks the types of this module's packages and tests as on other systems, which it is given as
// pairs such as windows/amd64. It compiles nothing, so it takes seconds where go vet takes minutes:
// go vet needs every dependency compiled for that system.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("want systems, such as darwin/arm64 windows/amd64"))
	}
	for _, system := range os.Args[1:] {
		goos, goarch, ok := strings.Cut(system, "/")
		if !ok {
			fail(fmt.Errorf("%q: want a pair such as windows/amd64", system))
		}
		n, err := check(".", goos, goarch, "./...")
		if err != nil {
			fail(fmt.Errorf("%s: %w", system, err))
		}
		fmt.Printf("%s: %d packages\n", system, n)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "systems:", err)
	os.Exit(1)
}
