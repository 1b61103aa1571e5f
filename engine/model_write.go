package engine

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// modelWriter appends values as JSON, always the same bytes for the same value. A field of
// a struct that has its zero value is left out; of a model, if an example is given, also one
// without slices, maps and pointers that is the same in the example. A pointer is a number: 0 is nil, and n the
// nth struct of a list that follows the model, in the order in which the pointers are
// written. So a cycle has an end, and a deep tree no deep nesting. Bytes, and strings that
// are no UTF-8, are base64; a map is a list of pairs, sorted by their keys.
type modelWriter struct {
	out     []byte
	objects []object // the structs of the list
	numbers map[uintptr]int
	compare bool // an empty list is written as nil, because no record tells the two apart
}

// object is a struct behind a pointer of a model.
type object struct {
	*shape
	pointer reflect.Value
}

// model appends a model and the structs that its pointers lead to: `{…},"objects":[…]`. The
// example may be nil.
func (w *modelWriter) model(s *shape, model, example any) {
	w.objects, w.numbers = nil, nil
	var like reflect.Value
	if example != nil {
		like = reflect.ValueOf(example).Elem()
	}
	w.fields(s, reflect.ValueOf(model).Elem(), like)
	w.out = append(w.out, `,"objects":[`...)
	for i := 0; i < len(w.objects); i++ {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.value(w.objects[i].shape, w.objects[i].pointer.Elem())
	}
	w.out = append(w.out, ']')
}

func (w *modelWriter) value(s *shape, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		w.out = strconv.AppendBool(w.out, v.Bool())
	case reflect.String:
		w.text(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.out = strconv.AppendInt(w.out, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.out = strconv.AppendUint(w.out, v.Uint(), 10)
	case reflect.Struct:
		w.fields(s, v, reflect.Value{})
	case reflect.Slice, reflect.Array:
		w.list(s, v)
	case reflect.Map:
		w.pairs(s, v)
	case reflect.Pointer:
		w.pointer(s, v)
	}
}

func (w *modelWriter) fields(s *shape, v, example reflect.Value) {
	next := byte('{')
	for i, f := range s.fields {
		field, like := v.Field(i), reflect.Value{}
		if example.IsValid() {
			like = example.Field(i)
		}
		if f.like(field, like) || w.compare && f.empty(field) {
			continue
		}
		w.out = append(append(append(w.out, next, '"'), f.name...), `":`...)
		if field.Kind() == reflect.Struct {
			w.fields(f.shape, field, like)
		} else {
			w.value(f.shape, field)
		}
		next = ','
	}
	if next == '{' {
		w.out = append(w.out, '{')
	}
	w.out = append(w.out, '}')
}

// empty reports whether a value is a list without elements.
func (s *shape) empty(v reflect.Value) bool {
	k := s.typ.Kind()
	return (k == reflect.Slice || k == reflect.Map) && v.Len() == 0
}

// like reports whether a value is left out: it is as in the example, or zero.
func (s *shape) like(v, example reflect.Value) bool {
	switch {
	case !example.IsValid() || !s.flat && s.typ.Kind() != reflect.Struct:
		return v.IsZero()
	case s.flat:
		return v.Equal(example)
	}
	for i, f := range s.fields {
		if !f.like(v.Field(i), example.Field(i)) {
			return false
		}
	}
	return true
}

func (w *modelWriter) text(text string) {
	if !utf8.ValidString(text) {
		w.out = append(w.out, `{"base64":`...)
		w.bytes([]byte(text))
		w.out = append(w.out, '}')
		return
	}
	if plainText(text) {
		w.out = append(append(append(w.out, '"'), text...), '"')
		return
	}
	quoted, _ := json.Marshal(text) // no string is an error
	w.out = append(w.out, quoted...)
}

// plainText reports whether a string stands in JSON as it is.
func plainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (w *modelWriter) bytes(b []byte) {
	w.out = append(w.out, '"')
	w.out = base64.StdEncoding.AppendEncode(w.out, b)
	w.out = append(w.out, '"')
}

func (w *modelWriter) list(s *shape, v reflect.Value) {
	if v.Kind() == reflect.Slice && (v.IsNil() || w.compare && v.Len() == 0) {
		w.out = append(w.out, "null"...)
		return
	}
	if s.isBytes() {
		w.bytes(v.Bytes())
		return
	}
	w.out = append(w.out, '[')
	for i := range v.Len() {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.value(s.elem, v.Index(i))
	}
	w.out = append(w.out, ']')
}

// isBytes reports whether a list is written as base64.
func (s *shape) isBytes() bool {
	return s.typ.Kind() == reflect.Slice && s.elem.typ.Kind() == reflect.Uint8
}

func (w *modelWriter) pairs(s *shape, v reflect.Value) {
	if v.IsNil() || w.compare && v.Len() == 0 {
		w.out = append(w.out, "null"...)
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	w.out = append(w.out, '[')
	for i, key := range keys {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, '[')
		w.text(key.String())
		w.out = append(w.out, ',')
		w.value(s.elem, v.MapIndex(key))
		w.out = append(w.out, ']')
	}
	w.out = append(w.out, ']')
}

func (w *modelWriter) pointer(s *shape, v reflect.Value) {
	if v.IsNil() {
		w.out = append(w.out, '0')
		return
	}
	n, met := w.numbers[v.Pointer()]
	if !met {
		if w.numbers == nil {
			w.numbers = map[uintptr]int{}
		}
		w.objects = append(w.objects, object{s.elem, v})
		n = len(w.objects)
		w.numbers[v.Pointer()] = n
	}
	w.out = strconv.AppendInt(w.out, int64(n), 10)
}
