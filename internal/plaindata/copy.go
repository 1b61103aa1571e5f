package plaindata

import "reflect"

// Copy returns a pointer to a copy of the struct to which p points, whose type has the shape s. The
// copy shares nothing with it but strings, which do not change.
func (s *Shape) Copy(p any) any {
	fresh := reflect.New(s.typ)
	fresh.Elem().Set(reflect.ValueOf(p).Elem())
	if s.flat {
		return fresh.Interface()
	}
	k := copier{}
	k.separate(s, fresh.Elem())
	for len(k.rest) > 0 {
		next := k.rest[0]
		k.rest = k.rest[1:]
		k.separate(next.shape, next.value)
	}
	return fresh.Interface()
}

// copier copies what a value shares with the one of which it is a copy. Two pointers to
// one struct become two pointers to one copy. Structs behind pointers are copied one after
// the other, so that a deep tree needs no deep stack.
type copier struct {
	made map[uintptr]reflect.Value
	rest []copiedValue
}

type copiedValue struct {
	shape *Shape
	value reflect.Value
}

func (k *copier) separate(s *Shape, v reflect.Value) {
	if s.flat {
		return
	}
	switch s.typ.Kind() {
	case reflect.Struct:
		for i, f := range s.fields {
			if !f.flat {
				k.separate(f.Shape, v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			k.separate(s.elem, v.Index(i))
		}
	case reflect.Slice:
		k.slice(s, v)
	case reflect.Map:
		k.mapping(s, v)
	case reflect.Pointer:
		k.pointer(s, v)
	}
}

func (k *copier) slice(s *Shape, v reflect.Value) {
	if v.IsNil() {
		return
	}
	v = opened(v)
	fresh := reflect.MakeSlice(s.typ, v.Len(), v.Len())
	reflect.Copy(fresh, v)
	v.Set(fresh)
	if !s.elem.flat {
		for i := range v.Len() {
			k.separate(s.elem, v.Index(i))
		}
	}
}

func (k *copier) mapping(s *Shape, v reflect.Value) {
	if v.IsNil() {
		return
	}
	v = opened(v)
	fresh := reflect.MakeMapWithSize(s.typ, v.Len())
	for all := v.MapRange(); all.Next(); {
		value := reflect.New(s.elem.typ).Elem()
		value.Set(all.Value())
		k.separate(s.elem, value)
		fresh.SetMapIndex(all.Key(), value)
	}
	v.Set(fresh)
}

func (k *copier) pointer(s *Shape, v reflect.Value) {
	if v.IsNil() {
		return
	}
	v = opened(v)
	fresh, done := k.made[v.Pointer()]
	if !done {
		if k.made == nil {
			k.made = map[uintptr]reflect.Value{}
		}
		fresh = reflect.New(s.elem.typ)
		fresh.Elem().Set(v.Elem())
		k.made[v.Pointer()] = fresh
		k.rest = append(k.rest, copiedValue{s.elem, fresh.Elem()})
	}
	v.Set(fresh)
}
