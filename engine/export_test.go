package engine

import (
	"regexp"

	"github.com/looplab/fsm"
)

var arrowOf = regexp.MustCompile(`"([^"]*)" -> "([^"]*)" \[ label = "([^"]*)" \];`)

// Looplab lists the arrows that looplab itself holds for a chart, read from
// its own drawing.
func (c *compiled) Looplab() []Edge {
	var all []Edge
	for _, m := range arrowOf.FindAllStringSubmatch(fsm.Visualize(newStepper(c).fsm), -1) {
		all = append(all, Edge{State(m[1]), m[3], State(m[2])})
	}
	return all
}

// Looplab does the same for a recipe that is compiled by now.
func (r *RecipeOf[M]) Looplab() []Edge { return r.own().Looplab() }

// CopiedAtOnce is copiedAtOnce.
const CopiedAtOnce = copiedAtOnce
