package sim

// Apart shapes worlds in which one recipe is lived in and nothing else: those of
// every role that has worlds of its own, each under its recipe's name and with no
// bug in it.
func Apart() (all []Plant) {
	for _, r := range roles {
		if r.apart {
			all = append(all, Plant{Name: "none: " + r.recipe, Shape: in(r.home)})
		}
	}
	return all
}
