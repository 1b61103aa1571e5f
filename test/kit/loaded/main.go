// Command loaded runs a command, the proof as a rule, on a machine that it makes bad: two processes for each core are
// busy, and test binaries, their workers and the servers that they started are stopped at random, each for up to two
// seconds. What fails there and has no fault decides by how fast the machine is. Linux only.
//
//	go run ./test/kit/loaded [-seed N] [-stop D] COMMAND…
//
// It ends with the command's exit status. Whatever it stopped goes on before it ends.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const busyPerCore = 2

func main() {
	seed := flag.Uint64("seed", 1, "of the choice of processes and times")
	stop := flag.Duration("stop", 2*time.Second, "how long a process is stopped at most")
	burn := flag.Bool("burn", false, "be one of the busy processes")
	flag.Parse()
	if *burn {
		burnForParent(os.Getppid())
		return
	}
	if flag.NArg() == 0 || *stop <= 0 {
		fmt.Fprintln(os.Stderr, "loaded: want a command, and -stop above 0")
		os.Exit(2)
	}
	os.Exit(run(flag.Args(), *seed, *stop))
}

// burnForParent keeps one core busy until its parent has gone.
func burnForParent(parent int) {
	for n := 0; os.Getppid() == parent; n++ {
		for range 1 << 24 {
			n ^= n << 1
		}
	}
}

// run runs the command under load and returns its exit status.
func run(command []string, seed uint64, stop time.Duration) int {
	if err := adoptOrphans(); err != nil {
		fmt.Fprintln(os.Stderr, "loaded:", err)
		return 2
	}
	busy, err := startBusy(busyPerCore * runtime.NumCPU())
	defer func() {
		for _, b := range busy {
			_ = b.Process.Kill()
		}
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "loaded:", err)
		return 2
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "loaded:", err)
		return 127
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan int, 1)
	go func() { ended <- exitCode(cmd) }()
	s := stopper{random: rand.New(rand.NewPCG(seed, 0)), root: os.Getpid(), most: stop}
	defer s.goOn()
	for {
		select {
		case code := <-ended:
			fmt.Printf("loaded: processes were stopped %d times\n", s.times)
			return code
		case got := <-signals:
			_ = cmd.Process.Signal(got)
		case <-time.After(s.pause()):
			s.act()
		}
	}
}

func startBusy(n int) (busy []*exec.Cmd, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for range n {
		cmd := exec.Command(self, "-burn")
		if err := cmd.Start(); err != nil {
			return busy, err
		}
		busy = append(busy, cmd)
	}
	return busy, nil
}

func exitCode(cmd *exec.Cmd) int {
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code
	}
	return 1 // ended by a signal
}
