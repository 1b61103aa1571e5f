package wire

import "time"

// dice decide everything that chance decides. A throw is a function of the seed and of what it is about, and not of how
// many throws there were before: so goroutines that run in another order get the same throws.
type dice uint64

// about returns the dice of a part: of a client, say, or of one frame of a connection.
func (d dice) about(parts ...uint64) dice {
	for _, p := range parts {
		d = dice(mix(uint64(d) ^ mix(p+0x632be59bd9b4e019)))
	}
	return d
}

// named returns the dice of one question.
func (d dice) named(question string) dice {
	for _, c := range []byte(question) {
		d = d.about(uint64(c))
	}
	return d
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number from 0 to n-1.
func (d dice) below(n int) int { return int(mix(uint64(d)) % uint64(n)) }

// chance reports whether something happens that happens so many times in a thousand.
func (d dice) chance(perMille int) bool { return d.below(1000) < perMille }

// between returns a duration in a range, to the nanosecond: two throws hardly ever give the same.
func (d dice) between(least, most time.Duration) time.Duration {
	return least + time.Duration(mix(uint64(d))%uint64(most-least+1))
}
