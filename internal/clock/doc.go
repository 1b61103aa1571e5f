// Package clock has this machine's clocks, and knows for how long this process did not run.
package clock
