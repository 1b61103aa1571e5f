package play

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
)

// Verb is a kind of deed.
type Verb struct {
	Verb  string `json:"verb"`
	To    string `json:"to"` // "participant", "server" or "ensemble"
	Lasts bool   `json:"lasts"`
	For   int64  `json:"for"` // how long it usually lasts, microseconds
	Text  string `json:"text"`

	does string // the world's action
}

// What a deed is done to.
const (
	toParticipant = "participant"
	toServer      = "server"
	toEnsemble    = "ensemble"
)

var verbs = []Verb{
	{Verb: "start", To: toParticipant, Text: "a program that waits begins", does: world.Start},
	{Verb: "close", To: toParticipant, Text: "the program closes its handle, then its session", does: world.Close},
	{Verb: "resign", To: toParticipant, Text: "the program releases what it holds, and wants it again",
		does: world.Resign},
	{Verb: "kill", To: toParticipant, Text: "the process is gone, and its session runs out", does: world.Kill},
	{Verb: "freeze", To: toParticipant, Lasts: true, For: micros(9 * time.Second),
		Text: "nothing of the process runs for a while", does: world.Freeze},
	{Verb: "cut", To: toParticipant, Text: "its connection ends", does: world.Cut},
	{Verb: "mute", To: toParticipant, Text: "its connection stays, and delivers nothing any more", does: world.Mute},
	{Verb: "lose-reply", To: toParticipant, Text: "its next write is carried out, and the reply is lost",
		does: world.LoseReply},
	{Verb: "expire", To: toParticipant, Text: "the ensemble ends its session at once", does: world.Expire},
	{Verb: "delete", To: toParticipant, Text: "an operator deletes its newest node", does: world.Delete},
	{Verb: "hide", To: toParticipant,
		Text: "an operator takes away the right to read its newest node: servers do not tell of its end then",
		does: world.Hide},
	{Verb: "isolate", To: toServer, Lasts: true, For: micros(9 * time.Second),
		Text: "a follower reaches no other server for a while, and goes on answering clients", does: world.Isolate},
	{Verb: "crash", To: toServer, Lasts: true, For: micros(9 * time.Second), Text: "a follower is away for a while",
		does: world.Crash},
	{Verb: "freeze-server", To: toServer, Lasts: true, For: micros(2 * time.Second),
		Text: "nothing of a server runs for a while", does: world.FreezeServer},
	{Verb: "depose", To: toEnsemble, Lasts: true, For: micros(3 * time.Second),
		Text: "the ensemble's leader is cut off from the others, and leads on by itself for a while",
		does: world.Depose},
	{Verb: "slow-disk", To: toEnsemble, Lasts: true, For: micros(9 * time.Second),
		Text: "every commit takes up to a third of the session timeout longer, for a while", does: world.SlowDisk},
}

func micros(d time.Duration) int64 { return d.Microseconds() }

// verbNamed returns a verb, nil for none.
func verbNamed(name string) *Verb {
	i := slices.IndexFunc(verbs, func(v Verb) bool { return v.Verb == name })
	if i < 0 {
		return nil
	}
	return &verbs[i]
}
