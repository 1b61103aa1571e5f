// Command incumbent is for operators: it runs commands under leadership or a lock,
// shows who is in line, tells changes, moves leadership, replays recorded logs and
// draws the state machines. Without a command it prints its help.
package main

import (
	"os"

	"github.com/incumbent-go/incumbent/cmd/incumbent/program"
)

func main() { os.Exit(program.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
