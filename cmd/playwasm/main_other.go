//go:build !js || !wasm

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "playwasm is built for a browser: make site")
	os.Exit(64)
}
