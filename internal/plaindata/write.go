package plaindata

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Writer appends values as JSON, always the same bytes for the same value. A field of
// a struct that has its zero value is left out; of a model, if an example is given, also one
// without slices, maps and pointers that is the same in the example. A pointer is a number: 0 is nil, and n the
// nth struct of a list that follows the model, in the order in which the pointers are
// written. So a cycle has an end, and a deep tree no deep nesting. Bytes, and strings that
// are no UTF-8, are base64; a map is a list of pairs, sorted by their keys.
type Writer struct {
	Out     []byte
	objects []object // the structs of the list
	numbers map[uintptr]int
	Compare bool // an empty list is written as nil, because no record tells the two apart
}

// object is a struct behind a pointer of a model.
type object struct {
	*Shape
	pointer reflect.Value
}

// Model appends a model, a struct, and the structs that its pointers lead to: `{…},"objects":[…]`. It gets
// pointers to the model and to an example of the same type, which may be nil.
func (w *Writer) Model(s *Shape, model, example any) {
	w.objects, w.numbers = nil, nil
	var like reflect.Value
	if example != nil {
		like = reflect.ValueOf(example).Elem()
	}
	w.fields(s, reflect.ValueOf(model).Elem(), like)
	w.Out = append(w.Out, `,"objects":[`...)
	for i := 0; i < len(w.objects); i++ {
		if i > 0 {
			w.Out = append(w.Out, ',')
		}
		w.Value(w.objects[i].Shape, w.objects[i].pointer.Elem())
	}
	w.Out = append(w.Out, ']')
}

// Value appends one value. What has pointers is written by Model.
func (w *Writer) Value(s *Shape, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		w.Out = strconv.AppendBool(w.Out, v.Bool())
	case reflect.String:
		w.text(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.Out = strconv.AppendInt(w.Out, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.Out = strconv.AppendUint(w.Out, v.Uint(), 10)
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

func (w *Writer) fields(s *Shape, v, example reflect.Value) {
	next := byte('{')
	for i, f := range s.fields {
		field, like := v.Field(i), reflect.Value{}
		if example.IsValid() {
			like = example.Field(i)
		}
		if f.like(field, like) || w.Compare && f.empty(field) {
			continue
		}
		w.Out = append(append(append(w.Out, next, '"'), f.name...), `":`...)
		if field.Kind() == reflect.Struct {
			w.fields(f.Shape, field, like)
		} else {
			w.Value(f.Shape, field)
		}
		next = ','
	}
	if next == '{' {
		w.Out = append(w.Out, '{')
	}
	w.Out = append(w.Out, '}')
}

// empty reports whether a value is a list without elements.
func (s *Shape) empty(v reflect.Value) bool {
	k := s.typ.Kind()
	return (k == reflect.Slice || k == reflect.Map) && v.Len() == 0
}

// like reports whether a value is left out: it is as in the example, or zero.
func (s *Shape) like(v, example reflect.Value) bool {
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

func (w *Writer) text(text string) {
	if !utf8.ValidString(text) {
		w.Out = append(w.Out, `{"base64":`...)
		w.bytes([]byte(text))
		w.Out = append(w.Out, '}')
		return
	}
	if plainText(text) {
		w.Out = append(append(append(w.Out, '"'), text...), '"')
		return
	}
	quoted, _ := json.Marshal(text) // no string is an error
	w.Out = append(w.Out, quoted...)
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

func (w *Writer) bytes(b []byte) {
	w.Out = append(w.Out, '"')
	w.Out = base64.StdEncoding.AppendEncode(w.Out, b)
	w.Out = append(w.Out, '"')
}

func (w *Writer) list(s *Shape, v reflect.Value) {
	if v.Kind() == reflect.Slice && (v.IsNil() || w.Compare && v.Len() == 0) {
		w.Out = append(w.Out, "null"...)
		return
	}
	if s.isBytes() {
		w.bytes(v.Bytes())
		return
	}
	w.Out = append(w.Out, '[')
	for i := range v.Len() {
		if i > 0 {
			w.Out = append(w.Out, ',')
		}
		w.Value(s.elem, v.Index(i))
	}
	w.Out = append(w.Out, ']')
}

// isBytes reports whether a list is written as base64.
func (s *Shape) isBytes() bool {
	return s.typ.Kind() == reflect.Slice && s.elem.typ.Kind() == reflect.Uint8
}

func (w *Writer) pairs(s *Shape, v reflect.Value) {
	if v.IsNil() || w.Compare && v.Len() == 0 {
		w.Out = append(w.Out, "null"...)
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	w.Out = append(w.Out, '[')
	for i, key := range keys {
		if i > 0 {
			w.Out = append(w.Out, ',')
		}
		w.Out = append(w.Out, '[')
		w.text(key.String())
		w.Out = append(w.Out, ',')
		w.Value(s.elem, v.MapIndex(key))
		w.Out = append(w.Out, ']')
	}
	w.Out = append(w.Out, ']')
}

func (w *Writer) pointer(s *Shape, v reflect.Value) {
	if v.IsNil() {
		w.Out = append(w.Out, '0')
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
	w.Out = strconv.AppendInt(w.Out, int64(n), 10)
}
