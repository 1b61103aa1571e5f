package small

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/incumbent-go/incumbent/engine"
)

// fork copies an engine with all its machines, so that a search can step both.
// It goes by reflection, so that a model needs no method for it and no field
// can be forgotten: what is reachable is copied, but for the charts' compiled
// tables and looplab's objects, which hold nothing between two steps. Both
// engines must be used by the same goroutine.
func fork(e *engine.Engine) *engine.Engine {
	copied := new(engine.Engine)
	k := copier{made: map[unsafe.Pointer]reflect.Value{}}
	from, to := reflect.ValueOf(e).Elem(), reflect.ValueOf(copied).Elem()
	for i := range from.NumField() {
		src, dst := open(from.Field(i)), open(to.Field(i))
		switch name := from.Type().Field(i).Name; name {
		case "recipes", "used", "record", "seq", "bounded":
			dst.Set(src)
		case "machines", "order", "searches", "session", "last":
			k.copy(dst, src)
		case "lists", "copying", "queue", "current", "box", "out", "records", "kept", "invariants", "observer":
			// hold nothing between two steps, or are not checked here
		default:
			panic(fmt.Sprintf("small: nobody decided how to copy the engine's field %s", name))
		}
	}
	return copied
}

// open makes a field of another package writable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// copier keeps what it has copied, so that two pointers to one thing stay so.
type copier struct {
	made map[unsafe.Pointer]reflect.Value
}

func (k *copier) copy(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.Pointer:
		k.pointer(dst, src)
	case reflect.Interface:
		if src.IsNil() {
			return
		}
		inner := reflect.New(src.Elem().Type()).Elem()
		k.copy(inner, src.Elem())
		dst.Set(inner)
	case reflect.Struct:
		if plain(src.Type()) {
			dst.Set(src)
			return
		}
		for i := range src.NumField() {
			k.copy(open(dst.Field(i)), open(src.Field(i)))
		}
	case reflect.Slice:
		k.slice(dst, src)
	case reflect.Map:
		if src.IsNil() {
			return
		}
		dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
		for it := src.MapRange(); it.Next(); {
			value := reflect.New(src.Type().Elem()).Elem()
			k.copy(value, it.Value())
			dst.SetMapIndex(it.Key(), value)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		panic("small: a model holds a " + src.Kind().String())
	default:
		dst.Set(src)
	}
}

func (k *copier) pointer(dst, src reflect.Value) {
	if src.IsNil() || src.Type().Elem().Name() == "steppers" {
		dst.Set(src)
		return
	}
	at := src.UnsafePointer()
	if done, ok := k.made[at]; ok {
		dst.Set(done)
		return
	}
	fresh := reflect.New(src.Type().Elem())
	k.made[at] = fresh
	k.copy(fresh.Elem(), src.Elem())
	dst.Set(fresh)
}

func (k *copier) slice(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
	if plain(src.Type().Elem()) {
		reflect.Copy(dst, src)
		return
	}
	for i := range src.Len() {
		k.copy(dst.Index(i), src.Index(i))
	}
}

var plains = map[reflect.Type]bool{}

// plain reports whether copying a value copies all of it.
func plain(t reflect.Type) bool {
	known, ok := plains[t]
	if ok {
		return known
	}
	is := true
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan,
		reflect.UnsafePointer:
		is = false
	case reflect.Struct:
		for i := range t.NumField() {
			is = is && plain(t.Field(i).Type)
		}
	case reflect.Array:
		is = plain(t.Elem())
	}
	plains[t] = is
	return is
}
