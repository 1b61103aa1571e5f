package zkio

import "time"

// A socket's deadlines are times of the system's clock, not of the loop's. limitRead and limitWrite bound every
// read and write after the handshake: to two thirds of the session timeout, as zk.Conn of go-zookeeper does.

func (w *wire) limitRead() { _ = w.Conn.SetReadDeadline(time.Now().Add(w.patience)) }

func (w *wire) limitWrite() { _ = w.Conn.SetWriteDeadline(time.Now().Add(w.patience)) }

// limitGreeting bounds the wait for the server's first answer. What follows it has until the deadline of the
// handshake: the server is not silent.
func (w *wire) limitGreeting() {
	limit := time.Now().Add(w.bound)
	if limit.After(w.deadline) {
		limit = w.deadline
	}
	_ = w.Conn.SetReadDeadline(limit)
}
