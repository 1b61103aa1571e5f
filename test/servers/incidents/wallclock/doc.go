// Package wallclock runs a program whose wall clock can be set while it runs, without a change of the machine's clock.
// It is the tracer of the program (ptrace): it takes the vDSO away from it, so that every reading of the clock is a
// system call, and adds an offset to what clock_gettime(CLOCK_REALTIME) answers. All other clocks stay as they are. It
// needs Linux on amd64.
//
// The program costs more under it: each of its system calls stops twice.
package wallclock
