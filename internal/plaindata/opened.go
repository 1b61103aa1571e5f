package plaindata

import (
	"reflect"
	"unsafe"
)

// opened returns a value that can be set, although it is a field that its package does not
// export. v has to be addressable. It is this library's only use of unsafe: models have no
// exported fields, because only their own rows may change them, and a checkpoint has to set
// each of them. Without it, every model would need two functions that name all its fields,
// and a field that somebody forgets there is a machine that forgets it.
func opened(v reflect.Value) reflect.Value {
	if v.CanSet() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}
