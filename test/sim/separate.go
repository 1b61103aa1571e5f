package sim

import "slices"

// Apart shapes worlds in which recipes are lived in that belong together, mostly one,
// and nothing else: those of every home whose roles have worlds of their own, under
// the name of the first of them and with no bug in it.
func SeparateWorlds() (all []Plant) {
	var homes []string
	for _, r := range roles {
		if r.apart && !slices.Contains(homes, r.home) {
			homes = append(homes, r.home)
			all = append(all, Plant{Name: "none: " + r.recipe, Shape: inDir(r.home)})
		}
	}
	return all
}
