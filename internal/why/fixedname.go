package why

// nodeElection is the recipe of an election on one node.
const nodeElection = "nodeelection"

// fixedName reports whether all nodes of a recipe's leaders have one name.
func fixedName(recipe string) bool { return recipe == "jobelection" || recipe == nodeElection }
