package plaindata

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// maxGrowth bounds how many times the memory of what is read may be larger than its text.
// What the engine's machines write needs up to about ten times.
const maxGrowth = 64

// Reader reads what a Writer wrote, and refuses everything else: a field that is
// unknown, repeated or out of its order, a number that does not fit, a pointer to nothing.
type Reader struct {
	dec     *json.Decoder
	room    int      // bytes that may still be allocated
	objects []object // of the present model
}

// Begin begins to read a text, a JSON object, and reads its opening brace. A Reader may read several
// texts, one after the other.
func (r *Reader) Begin(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("not UTF-8")
	}
	r.dec = json.NewDecoder(bytes.NewReader(b))
	r.dec.UseNumber()
	r.room += maxGrowth * len(b)
	return r.Want('{')
}

// take takes bytes from the room.
func (r *Reader) take(t reflect.Type) error {
	if r.room -= int(t.Size()); r.room < 0 {
		return fmt.Errorf("it needs more than %d times the memory of its text", maxGrowth)
	}
	return nil
}

// Want reads a delimiter. The error says what comes next instead, if it does not.
func (r *Reader) Want(d json.Delim) error {
	t, err := r.token()
	if err == nil && t != d {
		err = fmt.Errorf("want %q, found %.40v", d.String(), t)
	}
	return err
}

func (r *Reader) token() (json.Token, error) {
	t, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return t, err
}

// Key reads a key. The error says what comes next instead, if it does not.
func (r *Reader) Key(name string) error {
	t, err := r.token()
	if err == nil && t != name {
		err = fmt.Errorf("want the key %q, found %.40v", name, t)
	}
	return err
}

// More reports whether the present list or object goes on.
func (r *Reader) More() bool { return r.dec.More() }

// End reads the end of the text. The error says that more follows.
func (r *Reader) End() error {
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows its end")
	}
	return nil
}

// Model reads a model, a struct, and the structs that its pointers lead to, and returns a pointer to the
// model. The example is the one with which it was written: a pointer to a struct of the same type, or nil.
func (r *Reader) Model(s *Shape, example any) (any, error) {
	model, err := r.model(s, example)
	return model.Interface(), err
}

func (r *Reader) model(s *Shape, example any) (reflect.Value, error) {
	model := reflect.New(s.typ)
	if example != nil {
		model.Elem().Set(reflect.ValueOf(example).Elem())
		s.clearShared(model.Elem())
	}
	r.objects = nil
	if err := r.take(s.typ); err != nil {
		return model, err
	}
	if err := r.Value(s, model.Elem()); err != nil {
		return model, fmt.Errorf("model: %w", err)
	}
	if err := r.Key("objects"); err != nil {
		return model, err
	}
	if err := r.Want('['); err != nil {
		return model, err
	}
	for i := 0; i < len(r.objects); i++ {
		if err := r.Value(r.objects[i].Shape, r.objects[i].pointer.Elem()); err != nil {
			return model, fmt.Errorf("object %d: %w", i+1, err)
		}
	}
	return model, r.Want(']')
}

// clearShared clears the slices, maps and pointers in a value.
func (s *Shape) clearShared(v reflect.Value) {
	switch {
	case s.flat:
	case s.typ.Kind() == reflect.Struct:
		for i, f := range s.fields {
			f.clearShared(v.Field(i))
		}
	default:
		opened(v).SetZero()
	}
}

// Value reads one value into v, which is addressable, and whose slices, maps and pointers are nil. What
// has pointers is read by Model.
func (r *Reader) Value(s *Shape, v reflect.Value) error {
	switch s.typ.Kind() {
	case reflect.Struct:
		return r.fields(s, v)
	case reflect.Array:
		return r.array(s, v)
	}
	t, err := r.token()
	if err != nil {
		return err
	}
	v = opened(v)
	switch s.typ.Kind() {
	case reflect.Bool:
		is, ok := t.(bool)
		if !ok {
			return unexpected("true or false", t)
		}
		v.SetBool(is)
		return nil
	case reflect.String:
		text, err := r.text(t)
		v.SetString(text)
		return err
	case reflect.Slice:
		return r.slice(s, v, t)
	case reflect.Map:
		return r.pairs(s, v, t)
	case reflect.Pointer:
		return r.pointer(s, v, t)
	}
	return number(v, t)
}

func unexpected(want string, t json.Token) error { return fmt.Errorf("want %s, found %.40v", want, t) }

// number sets an integer.
func number(v reflect.Value, t json.Token) error {
	n, ok := t.(json.Number)
	if !ok {
		return unexpected("an integer", t)
	}
	bits := v.Type().Bits()
	if v.CanInt() {
		i, err := strconv.ParseInt(n.String(), 10, bits)
		v.SetInt(i)
		return notInteger(n, bits, err)
	}
	u, err := strconv.ParseUint(n.String(), 10, bits)
	v.SetUint(u)
	return notInteger(n, bits, err)
}

func notInteger(n json.Number, bits int, err error) error {
	if err != nil {
		return fmt.Errorf("%s is no integer of %d bits", n, bits)
	}
	return nil
}

// text returns the string that begins with a token.
func (r *Reader) text(t json.Token) (string, error) {
	if t == json.Delim('{') {
		if err := r.Key("base64"); err != nil {
			return "", err
		}
		t, err := r.token()
		if err != nil {
			return "", err
		}
		b, err := decoded(t)
		if err != nil {
			return "", err
		}
		return string(b), r.Want('}')
	}
	text, ok := t.(string)
	if !ok {
		return "", unexpected("a string", t)
	}
	return text, nil
}

func decoded(t json.Token) ([]byte, error) {
	text, ok := t.(string)
	if !ok {
		return nil, unexpected("base64", t)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errors.New("no base64")
	}
	return b, nil
}
