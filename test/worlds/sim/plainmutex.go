package sim

import (
	"math/rand/v2"
	"strings"

	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plainLockDir is the directory of the plain lock.
const plainLockDir = "/app/plainlock"

// plainMutexRole is the role of the plain mutex. Its programs do what those of the mutex do, on names without a GUID.
// Each process has one acquisition at a time in a directory of its own, as the library sees to it.
var plainMutexRole = &role{
	name:     "plain mutex",
	recipe:   "mutex",
	separate: true,
	line:     lineTraits{label: "n_", noGUID: true},
	dirs:     dirTraits{own: plainLockDir},
	program:  plainMutexProgram{},
	states:   mutexRole.states,
	plants:   plantedPlainMutexes,
}

type plainMutexProgram struct{ mutexProgram }

func (plainMutexProgram) options(*user, *rand.Rand) map[string]string {
	return map[string]string{"prefix": "n_"}
}

// isPlainName reports whether a node's name has no GUID.
func isPlainName(path string) bool {
	return path == electedNode || strings.HasPrefix(path, plainElectionDir+"/") ||
		strings.HasPrefix(path, plainLockDir+"/")
}

var plantedPlainMutexes = []Plant{
	{Name: "plain mutex: a create whose answer was lost is asked for again", Shape: inDir(plainLockDir),
		Mutations: inOne("mutex", func() mutate.Mutation {
			return withGuard("mayBeOurs", never)
		})},
	{Name: "plain mutex: every node is taken for its own", Shape: inDir(plainLockDir), Mutations: inOne("mutex",
		func() mutate.Mutation {
			return mutate.Mutation{
				Guards:  map[string]guarding{"foundOurs": anyOwner, "foundNone": never},
				Actions: map[string]acting{"noteOwner": ignoringOwner, "takeLowest": ignoringOwner},
			}
		})},
	{Name: "plain mutex: its node is left after the work", Shape: inDir(plainLockDir), Mutations: inOne("mutex",
		func() mutate.Mutation {
			return withGuard("mayHaveNode", never)
		})},
}
