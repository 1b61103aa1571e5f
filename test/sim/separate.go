package sim

import "slices"

// Apart shapes worlds in which recipes are lived in that belong together, mostly one,
// and nothing else: those of every home whose roles have worlds of their own, under
// the name of the first of them and with no bug in it.
func SeparateWorlds() (all []Plant) {
	var dirs []string
	for _, r := range roles {
		if r.separate && !slices.Contains(dirs, r.dirs.own) {
			dirs = append(dirs, r.dirs.own)
			all = append(all, Plant{Name: "none: " + r.recipe, Shape: inDir(r.dirs.own)})
		}
	}
	return all
}
