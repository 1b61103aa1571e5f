package machines

import (
	"strings"
	"testing"
)

// Each scene ends with one answer to a machine, and says what the machine does then, and what it does not do.
func TestWhatAMachineDoesNext(t *testing.T) {
	consumes := []string{"open consumer path=/q", "consumer command.start",
		"consumer reply.children path=/q children=queue-0000000001", "consumer reply.multi"}
	deepBarrier := []string{"open barrier path=/deep/b", "barrier command.set"}
	for name, c := range map[string]struct {
		lines       []string
		does, never string
	}{
		"an item that the consumer releases stays in the queue": {
			append(consumes, "consumer command.close", "consumer reply.stat"),
			"multi {delete /q-locks/queue-0000000001}", "delete /q/"},
		"the answer names the parent that was refused": {
			append(deepBarrier, "barrier reply.create code=NONODE",
				"barrier reply.create path=/deep code=QUOTAEXCEEDED", "barrier reply.create code=NONODE"),
			`answer 1 QUOTAEXCEEDED "/deep"`, "NONODE"},
		"kazoo's readers have kazoo's names": {
			[]string{"open readwrite path=/l id=a reads=true kazoo=true", "readwrite command.await"},
			"__rlock__ ephemeral_sequential", "_c_"},
	} {
		_, answer := playAlone(t, c.lines...)
		if !strings.Contains(answer, c.does) || c.never != "" && strings.Contains(answer, c.never) {
			t.Errorf("%s: want %q and not %q:\n%s", name, c.does, c.never, answer)
		}
	}
}
