package quartz

import (
	"math/bits"
	"strconv"
)

// firstYear is the first year that Quartz knows; lastYear is one that no job of today reaches.
const firstYear, lastYear = 1970, 2299

// set is a set of numbers from 0 to 383: enough for the years from firstYear on.
type set [6]uint64

func (s *set) add(n int)      { s[n/64] |= 1 << (n % 64) }
func (s *set) has(n int) bool { return n >= 0 && n < len(s)*64 && s[n/64]&(1<<(n%64)) != 0 }

// from returns the smallest number of the set that is at least n.
func (s *set) from(n int) (int, bool) {
	for n = max(n, 0); n < len(s)*64; n = (n/64 + 1) * 64 {
		if rest := s[n/64] >> (n % 64); rest != 0 {
			return n + bits.TrailingZeros64(rest), true
		}
	}
	return 0, false
}

// number reads decimal digits, and nothing else.
func number(text string) (int, bool) {
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil
}
