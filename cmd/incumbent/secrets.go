package main

import "os"

// secretVariables are the variables of the environment that are for this program alone: with them,
// a command, what it starts, and the guard could do all that this program may do.
var secretVariables = []string{"INCUMBENT_AUTH", saslPassword, controlToken}

// takeSecrets removes the secrets from this process's environment, and so from that of every
// process that it starts. It returns them, for a command that is to have them.
func takeSecrets() (variables []string) {
	for _, name := range secretVariables {
		if value, set := os.LookupEnv(name); set {
			variables = append(variables, name+"="+value)
			_ = os.Unsetenv(name)
		}
	}
	return variables
}
