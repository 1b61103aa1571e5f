package wallclock

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Supported reports whether Run works on this platform.
const Supported = true

// What package syscall does not have: see ptrace(2) and getauxval(3).
const (
	exitKill     = 0x100000 // PTRACE_O_EXITKILL
	anyThread    = 0x40000000
	syscallStop  = syscall.SIGTRAP | 0x80 // with PTRACE_O_TRACESYSGOOD
	auxEnd       = 0                      // AT_NULL
	auxIgnore    = 1                      // AT_IGNORE
	auxVDSO      = 33                     // AT_SYSINFO_EHDR
	realtime     = 0                      // CLOCK_REALTIME
	word         = 8
	perSecond    = int64(time.Second)
	signalOffset = 128 // of the exit code of a program that a signal ended, as in shells
)

// Run runs a program with the files and the environment of this process, and returns its exit code. Each line of
// offsets is a duration, such as 1h or -30s: from then on, the program's wall clock is ahead of the machine's by that.
// If this process ends, the program is killed. Do not stop it by SIGSTOP: it would go on.
func Run(argv []string, offsets io.Reader) (code int, err error) {
	runtime.LockOSThread() // one thread is the tracer
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec(argv[0], argv,
		&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return 0, fmt.Errorf("wallclock: %s: %w", argv[0], err)
	}
	t := &tracer{main: pid, known: map[int]bool{pid: true}}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, anyThread, nil); err != nil || !status.Stopped() {
		return 0, fmt.Errorf("wallclock: %s did not stop where it begins (%#x): %w", argv[0], status, err)
	}
	if err := hideVDSO(pid); err != nil {
		return 0, fmt.Errorf("wallclock: the vDSO of %s: %w", argv[0], err)
	}
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|exitKill); err !=
		nil {
		return 0, fmt.Errorf("wallclock: ptrace options: %w", err)
	}
	go t.read(offsets)
	if err := syscall.PtraceSyscall(pid, 0); err != nil {
		return 0, fmt.Errorf("wallclock: ptrace: %w", err)
	}
	return t.follow()
}

// tracer follows the threads of a program.
type tracer struct {
	main   int
	known  map[int]bool // threads that have stopped once
	offset atomic.Int64 // nanoseconds
}

// read takes the offsets.
func (t *tracer) read(offsets io.Reader) {
	for in := bufio.NewScanner(offsets); in.Scan(); {
		by, err := time.ParseDuration(in.Text())
		if err != nil {
			fmt.Fprintf(os.Stderr, "wallclock: %q is no offset: want a duration, such as 1h or -30s\n", in.Text())
			continue
		}
		t.offset.Store(int64(by))
	}
}

// follow lets each thread that stops go on, until the program has ended.
func (t *tracer) follow() (code int, err error) {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, anyThread, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wallclock: wait4: %w", err)
		case status.Stopped():
			if err := t.stopped(tid, status); err != nil {
				return 0, err
			}
		case tid == t.main && status.Exited():
			return status.ExitStatus(), nil
		case tid == t.main:
			return signalOffset + int(status.Signal()), nil
		default:
			delete(t.known, tid)
		}
	}
}

// stopped looks at a thread that has stopped, and lets it go on with the signal that it is about to get.
func (t *tracer) stopped(tid int, status syscall.WaitStatus) error {
	signal := status.StopSignal()
	switch {
	case signal == syscallStop:
		signal = 0
		if err := t.answer(tid); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("wallclock: the answer of clock_gettime: %w", err)
		}
	case signal == syscall.SIGTRAP: // it has another thread
		signal = 0
	case signal == syscall.SIGSTOP && !t.known[tid]: // a new thread
		signal = 0
	}
	t.known[tid] = true
	if err := syscall.PtraceSyscall(tid, int(signal)); err != nil && !errors.Is(err, syscall.ESRCH) { // it was killed
		return fmt.Errorf("wallclock: ptrace: %w", err)
	}
	return nil
}

// answer adds the offset to the wall clock's time, if a thread has just been given that. Where a system call begins,
// the register of its result has -ENOSYS.
func (t *tracer) answer(tid int) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	by := t.offset.Load()
	if r.Orig_rax != syscall.SYS_CLOCK_GETTIME || r.Rdi != realtime || r.Rax != 0 || by == 0 {
		return nil
	}
	var ts [2 * word]byte // seconds and nanoseconds
	if _, err := syscall.PtracePeekData(tid, uintptr(r.Rsi), ts[:]); err != nil {
		return err
	}
	ns := int64(binary.LittleEndian.Uint64(ts[:]))*perSecond + int64(binary.LittleEndian.Uint64(ts[word:])) + by
	binary.LittleEndian.PutUint64(ts[:], uint64(ns/perSecond))
	binary.LittleEndian.PutUint64(ts[word:], uint64(ns%perSecond))
	_, err := syscall.PtracePokeData(tid, uintptr(r.Rsi), ts[:])
	return err
}

// hideVDSO makes a program that has just begun ignore its vDSO: behind its arguments and its environment, the stack has
// pairs of a type and a value.
func hideVDSO(pid int) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &r); err != nil {
		return err
	}
	at := uintptr(r.Rsp)
	args, err := peek(pid, at)
	if err != nil {
		return err
	}
	at += word * uintptr(args+2) // their number, they, and the end
	for {
		variable, err := peek(pid, at)
		if err != nil {
			return err
		}
		if at += word; variable == 0 {
			break
		}
	}
	for ; ; at += 2 * word {
		kind, err := peek(pid, at)
		switch {
		case err != nil || kind == auxEnd:
			return err
		case kind == auxVDSO:
			var ignore [word]byte
			binary.LittleEndian.PutUint64(ignore[:], auxIgnore)
			_, err := syscall.PtracePokeData(pid, at, ignore[:])
			return err
		}
	}
}

func peek(pid int, at uintptr) (uint64, error) {
	var b [word]byte
	_, err := syscall.PtracePeekData(pid, at, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}
