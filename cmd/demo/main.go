// Command demo shows and checks what the library does, with nothing else
// installed. The operators' commands are cmd/incumbent.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
