// Package plaindata writes, reads and copies values of plain data by reflection, and digests their
// types: structs, booleans, integers, strings, arrays, slices, maps with strings as keys, and pointers
// to structs. Fields need not be exported. A pointer points to a whole struct that nothing else
// contains. The engine makes checkpoints of its machines with it, whose models are plain data.
//
// Nothing here starts a goroutine or locks. A Shape does not change; a Writer and a Reader belong to
// one goroutine, and a value must not change while it is written or copied.
package plaindata
