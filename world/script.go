package world

import (
	"math/rand/v2"
	"time"
)

// Script is all that there is to know about a world.
type Script struct {
	Seed      int64
	Tick      time.Duration // the servers' tickTime
	SyncLimit int           // and syncLimit, in ticks
	Timeout   time.Duration // of sessions
}

// New makes a world: an ensemble of three servers, the first of which leads that the
// dice say, and no client.
func New(s Script, o Observer) *World {
	w := &World{script: s, dice: map[string]*rand.Rand{}, watcher: o}
	w.ens = newEnsemble(w)
	return w
}
