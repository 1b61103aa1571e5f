package program

import "os"

// takeSecrets removes variables that are secrets from this process's environment, and so from that of every
// process that it starts. It returns them, for a command that is to have them.
func takeSecrets(names []string) (variables []string) {
	for _, name := range names {
		if value, set := os.LookupEnv(name); set {
			variables = append(variables, name+"="+value)
			_ = os.Unsetenv(name)
		}
	}
	return variables
}
