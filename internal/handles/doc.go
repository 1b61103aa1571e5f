// Package handles has what all handles share, and what they need of their client: the loop, zkio, the clock and the
// log, whether the client is closed, the timeouts that the ensemble granted, and which machine has which handle.
package handles
