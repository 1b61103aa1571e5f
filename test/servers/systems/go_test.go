package systems

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// inGo is the environment variable that makes this test binary a program in Go: the program's name and its
// arguments, with | between them. It speaks to the test as Program.java does.
const inGo = "INCUMBENT_SYSTEMS_PROGRAM"

// commands are what a program does on a word from the test.
type commands map[string]func() string

// programs are those in Go. Each starts by its arguments, and returns its commands.
var programs = map[string]func(arguments []string) (commands, error){
	"latch": latchProgram, "elector": electorProgram,
}

// golang has the process run one of the programs in Go, and starts it.
func (p *process) golang(program string, arguments ...string) *process {
	p.stage.t.Helper()
	p.command = func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), inGo+"="+strings.Join(append([]string{program}, arguments...), "|"))
		return cmd
	}
	p.start()
	return p
}

var saysOneLine sync.Mutex

// say prints a line for the test.
func say(format string, values ...any) {
	saysOneLine.Lock()
	defer saysOneLine.Unlock()
	fmt.Printf("> "+format+"\n", values...)
}

// beProgram is the whole program.
func beProgram(line string) int {
	words := strings.Split(line, "|")
	start := programs[words[0]]
	if start == nil {
		fmt.Fprintf(os.Stderr, "no program %q\n", words[0])
		return 2
	}
	do, err := start(words[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	say("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if command := do[in.Text()]; command != nil {
			say("done %s", command())
		} else {
			say("failed no command %q", in.Text())
		}
	}
	return 0
}

// millis is a duration in milliseconds, for an argument.
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// latchProgram is a latch with the arguments servers, path, session timeout in milliseconds and id. It says "leads"
// and "ends".
func latchProgram(arguments []string) (commands, error) {
	timeout, err := strconv.Atoi(arguments[2])
	if err != nil {
		return nil, err
	}
	client, err := incumbent.Open(context.Background(), incumbent.Config{
		Servers: arguments[0], SessionTimeout: time.Duration(timeout) * time.Millisecond, Tick: tick,
	})
	if err != nil {
		return nil, err
	}
	latch, err := client.Latch(arguments[1], incumbent.LatchOptions{ID: arguments[3]})
	if err != nil {
		return nil, err
	}
	go func() {
		err := latch.Run(context.Background(), func(l *incumbent.Leadership) error {
			say("leads")
			<-l.Context().Done()
			say("ends")
			return nil
		})
		say("closed %v", err)
	}()
	return commands{"close": func() string { return fmt.Sprint(client.Close(context.Background())) }}, nil
}
