package mutants

import "golang.org/x/sys/unix"

// mostMemory is how many bytes of addresses a test binary may have. Without a mutant the largest needs a third of that.
const mostMemory = 4 << 30

// limitMemory bounds the memory of a process: a loop that does not end may fill it long before the run reaches its time
// limit. The process fails then.
func limitMemory(pid int) error {
	return unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: mostMemory, Max: mostMemory}, nil)
}
