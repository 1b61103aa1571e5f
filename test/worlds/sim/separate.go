package sim

import "slices"

// SeparateWorlds returns a plant without a bug for each own directory whose roles have
// separate worlds. It shapes worlds in which that directory is used, and little else. Its
// name has the first of the roles.
func SeparateWorlds() (all []Plant) {
	var dirs []string
	for _, r := range roles {
		if r.separate && !slices.Contains(dirs, r.dirs.own) {
			dirs = append(dirs, r.dirs.own)
			all = append(all, Plant{Name: "none: " + r.title(), Shape: inDir(r.dirs.own)})
		}
	}
	return all
}
