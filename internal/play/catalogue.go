package play

// Catalogue is all that a page offers.
type Catalogue struct {
	First string `json:"first"` // the link of the world that is shown if none is named
	// of two worlds that are shown next to each other at first: the library's, and one of the usual lock
	Duel      []string   `json:"duel"`
	Recipes   []string   `json:"recipes"`
	Names     []string   `json:"names"`
	Scenarios []Scenario `json:"scenarios"`
	Deeds     []Verb     `json:"deeds"`
	Bugs      []Bug      `json:"bugs"`
	Lessons   []Lesson   `json:"lessons"`
	Limits    Limits     `json:"limits"`
}

// Limits are the bounds of a script.
type Limits struct {
	Deeds        int   `json:"deeds"`
	Participants int   `json:"participants"`
	LinkBytes    int   `json:"linkBytes"`
	Seed         int64 `json:"seed"`
	Until        int64 `json:"until"` // microseconds
	Records      int   `json:"records"`
}

// first is the world to begin with: three in a line, and nothing is done to them.
const first = "1;latch;usual;3;7@20"

// duel returns the links of two worlds with the same participants and the same random numbers: in the second,
// heartbeats are
// reads, as in locks that take any answer of a server for a confirmation.
func duel() []string {
	return []string{"1;latch;usual;3;20@40", "1;latch;usual;3;20;bug=reads-confirm@40"}
}

// NewCatalogue returns all that a page offers.
func NewCatalogue() Catalogue {
	return Catalogue{First: first, Duel: duel(), Recipes: Recipes(), Names: names, Scenarios: scenarios, Deeds: verbs,
		Bugs: bugs, Lessons: Lessons(),
		Limits: Limits{Deeds: MaxDeeds, Participants: len(names), LinkBytes: MaxLink, Seed: MaxSeed,
			Until: micros(MaxUntil), Records: MaxRecords}}
}
