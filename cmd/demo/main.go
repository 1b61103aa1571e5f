// Command demo, installed as incumbent, is the program of the library: it shows
// and checks what the library does with nothing else installed, runs commands
// under leadership, and lets operators look at a line and move leadership.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
