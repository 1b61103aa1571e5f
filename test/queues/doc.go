// Package queues runs the product's own engine with producers and consumers of one
// queue through seeded worlds: several processes, each at a server of its own that
// lags behind the truth, requests that are carried out without an answer, sessions
// that end, processes that die, handlers that fail, and one virtual clock that every
// process reads with an offset of its own. Then all is healed, and everything has to
// come to its end.
//
// It asks: is every item put once that was answered so, and none that was refused; is
// none lost, none handed over twice at most once, none held by two at a time; is none
// early; does the order hold where one consumer is alone; is nothing left behind.
//
// Bugs are planted to show that it can fail: each has to be found in the first few
// hundred worlds.
package queues
