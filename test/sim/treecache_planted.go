package sim

var plantedTrees = []Plant{}
