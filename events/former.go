package events

// former has the kinds that were renamed, with today's names. The reader takes them,
// and leaves them as they were written: a log shows the words of the version that
// wrote it. No entry is ever taken away.
var former = map[Kind]Kind{
	"office.near": HeartbeatWanted,
	"office.far":  HeartbeatUnneeded,
	"latch.waits": LatchWaiting,
	"queue.turn":  QueueNext,
}

// Current returns today's name of a kind that was renamed, and any other kind as it is.
// Compare kinds from a log by it.
func (k Kind) Current() Kind {
	if now, renamed := former[k]; renamed {
		return now
	}
	return k
}
