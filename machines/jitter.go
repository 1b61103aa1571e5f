package machines

import "crypto/sha256"

// jitter is a sequence of numbers in [0, 1) that is derived from a seed, and so is the same in a
// replay.
type jitter struct{ state uint64 } // 0: every number is 0

func newJitter(seed string) jitter {
	h := sha256.Sum256([]byte(seed + "/dice"))
	d := jitter{}
	for _, b := range h[:8] {
		d.state = d.state<<8 | uint64(b)
	}
	return d
}

func (d *jitter) next() float64 {
	if d.state == 0 {
		return 0
	}
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}
