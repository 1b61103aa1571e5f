package plaindata

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// fields reads a struct. Its fields come in their order.
func (r *Reader) fields(s *Shape, v reflect.Value) error {
	if err := r.Want('{'); err != nil {
		return err
	}
	for next := 0; r.More(); {
		t, err := r.token()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(s.fields[next:], func(f shapeField) bool { return f.name == t })
		if i < 0 {
			return fmt.Errorf("the field %.40v is unknown, repeated or out of order", t)
		}
		f := s.fields[next+i]
		if err := r.Value(f.Shape, v.Field(next+i)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		next += i + 1
	}
	return r.Want('}')
}

func (r *Reader) array(s *Shape, v reflect.Value) error {
	if err := r.Want('['); err != nil {
		return err
	}
	for i := range v.Len() {
		if err := r.Value(s.elem, v.Index(i)); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return r.Want(']')
}

func (r *Reader) slice(s *Shape, v reflect.Value, t json.Token) error {
	switch {
	case t == nil:
		return nil
	case s.isBytes():
		b, err := decoded(t)
		v.SetBytes(b)
		return err
	case t != json.Delim('['):
		return unexpected("a list", t)
	}
	v.Set(reflect.MakeSlice(s.typ, 0, 0))
	for i := 0; r.More(); i++ {
		if err := r.take(s.elem.typ); err != nil {
			return err
		}
		one := reflect.New(s.elem.typ).Elem()
		if err := r.Value(s.elem, one); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
		v.Set(reflect.Append(v, one))
	}
	return r.Want(']')
}

// mapEntry is about what an entry of a map takes besides its value.
var mapEntry = reflect.TypeFor[[6]uint64]()

func (r *Reader) pairs(s *Shape, v reflect.Value, t json.Token) error {
	switch {
	case t == nil:
		return nil
	case t != json.Delim('['):
		return unexpected("a list of pairs", t)
	}
	v.Set(reflect.MakeMap(s.typ))
	for i, last := 0, ""; r.More(); i++ {
		if err := errors.Join(r.take(mapEntry), r.take(s.elem.typ)); err != nil {
			return err
		}
		key, err := r.pair(s, v)
		if err != nil {
			return fmt.Errorf("%.40q: %w", key, err)
		}
		if i > 0 && key <= last {
			return fmt.Errorf("the key %.40q is repeated or out of order", key)
		}
		last = key
	}
	return r.Want(']')
}

// pair reads one pair into a map, and returns its key.
func (r *Reader) pair(s *Shape, v reflect.Value) (key string, err error) {
	if err := r.Want('['); err != nil {
		return "", err
	}
	t, err := r.token()
	if err != nil {
		return "", err
	}
	if key, err = r.text(t); err != nil {
		return key, err
	}
	value := reflect.New(s.elem.typ).Elem()
	if err := r.Value(s.elem, value); err != nil {
		return key, err
	}
	v.SetMapIndex(reflect.ValueOf(key).Convert(s.typ.Key()), value)
	return key, r.Want(']')
}

// pointer reads the number of a struct. The first pointer to it makes it.
func (r *Reader) pointer(s *Shape, v reflect.Value, t json.Token) error {
	digits, ok := t.(json.Number)
	if !ok {
		return unexpected("the number of an object", t)
	}
	n, err := strconv.Atoi(digits.String())
	switch {
	case err != nil || n < 0 || n > len(r.objects)+1:
		return fmt.Errorf("no object has the number %.40s: want at most %d", digits, len(r.objects)+1)
	case n == 0:
		return nil
	case n == len(r.objects)+1:
		if err := r.take(s.elem.typ); err != nil {
			return err
		}
		r.objects = append(r.objects, object{s.elem, reflect.New(s.elem.typ)})
	case r.objects[n-1].Shape != s.elem:
		return fmt.Errorf("the object %d is a %s, want a %s", n, r.objects[n-1].typ.Name(), s.elem.typ.Name())
	}
	v.Set(r.objects[n-1].pointer)
	return nil
}
