package plaindata

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
)

// Shape is what there is to know of a type of plain data to write, read, copy and digest it. It does
// not change, so any goroutine may use it.
type Shape struct {
	typ    reflect.Type
	flat   bool         // an assignment copies all of it
	fields []shapeField // of a struct
	elem   *Shape       // of an array, slice, map or pointer
	done   bool
}

type shapeField struct {
	name string
	*Shape
}

// shaper finds the shapes of a type's parts.
type shaper struct {
	known map[reflect.Type]*Shape
}

// ShapeOf returns the shape of a type, or an error that names the part that is not plain data.
func ShapeOf(t reflect.Type) (*Shape, error) {
	k := shaper{map[reflect.Type]*Shape{}}
	return k.shape(t, false)
}

// MustShape returns the shape of T. It panics if T is not plain data.
func MustShape[T any]() *Shape {
	s, err := ShapeOf(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Errorf("plaindata: %s is not plain data: %w", reflect.TypeFor[T](), err))
	}
	return s
}

// shape returns the shape of a type that is, or is not, the target of a pointer.
func (k *shaper) shape(t reflect.Type, pointedTo bool) (*Shape, error) {
	if s := k.known[t]; s != nil {
		if !s.done && !pointedTo && t.Kind() != reflect.Pointer {
			return nil, fmt.Errorf("%s contains itself", t)
		}
		return s, nil
	}
	s := &Shape{typ: t}
	k.known[t] = s
	err := k.fill(s)
	s.done = true
	return s, err
}

func (k *shaper) fill(s *Shape) (err error) {
	t := s.typ
	switch t.Kind() {
	case reflect.Bool, reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.flat = true
		return nil
	case reflect.Struct:
		return k.fields(s)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("the keys of %s are no strings", t)
		}
	case reflect.Pointer:
		if t.Elem().Kind() != reflect.Struct {
			return fmt.Errorf("%s does not point to a struct", t)
		}
	case reflect.Slice, reflect.Array:
	default:
		return fmt.Errorf("%s is a %s", t, t.Kind())
	}
	s.elem, err = k.shape(t.Elem(), t.Kind() == reflect.Pointer)
	s.flat = err == nil && t.Kind() == reflect.Array && s.elem.flat
	return err
}

func (k *shaper) fields(s *Shape) error {
	s.flat = true
	for i := range s.typ.NumField() {
		f := s.typ.Field(i)
		of, err := k.shape(f.Type, false)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		s.flat = s.flat && of.flat
		s.fields = append(s.fields, shapeField{f.Name, of})
	}
	return nil
}

// Digest returns a hash, 16 hexadecimal digits, of the names and types of all fields. It does not see that the
// meaning of a value has changed.
func (s *Shape) Digest() string {
	var b strings.Builder
	s.describe(&b, map[*Shape]int{})
	h := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(h[:])[:16]
}

// describe writes a type without its name, and a struct that it has met before as a number.
func (s *Shape) describe(b *strings.Builder, met map[*Shape]int) {
	if n, again := met[s]; again {
		fmt.Fprintf(b, "#%d", n)
		return
	}
	b.WriteString(s.typ.Kind().String())
	switch s.typ.Kind() {
	case reflect.Struct:
		met[s] = len(met)
		b.WriteByte('{')
		for _, f := range s.fields {
			b.WriteString(f.name + " ")
			f.describe(b, met)
			b.WriteByte(';')
		}
		b.WriteByte('}')
	case reflect.Array:
		fmt.Fprint(b, s.typ.Len(), " ")
		s.elem.describe(b, met)
	case reflect.Slice, reflect.Map, reflect.Pointer:
		b.WriteByte(' ')
		s.elem.describe(b, met)
	}
}
