// Package seal puts checksums into logs that a test changed.
package seal

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// Again returns a log whose lines have the checksums that they should have,
// as if the writer had written them as they are: for tests of what stands behind the
// checksums. Lines without one stay as they are.
func Again(log []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	var all []byte
	sum := uint32(0)
	for line := range bytes.Lines(log) {
		at := bytes.LastIndex(line, []byte(`,"crc":"`))
		if at < 0 || line[len(line)-1] != '\n' {
			all = append(all, line...)
			continue
		}
		sum = crc32.Update(sum, table, line[:at])
		all = fmt.Appendf(append(all, line[:at]...), ",\"crc\":\"%08x\"}\n", sum)
	}
	return all
}
