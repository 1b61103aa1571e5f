package incumbent

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent/internal/fault"
)

// Codec encodes a queue's items as bytes and decodes them. It is called on the callers' and
// the handlers' goroutines, concurrently.
type Codec[T any] interface {
	Encode(T) ([]byte, error)
	Decode([]byte) (T, error)
}

// JSON returns the default codec of queues: encoding/json.
func JSON[T any]() Codec[T] { return jsonCodec[T]{} }

type jsonCodec[T any] struct{}

func (jsonCodec[T]) Encode(item T) ([]byte, error) { return json.Marshal(item) }
func (jsonCodec[T]) Decode(data []byte) (item T, err error) {
	err = json.Unmarshal(data, &item)
	return item, err
}

// Text returns the codec of plain strings, unchanged.
func Text() Codec[string] { return textCodec{} }

type textCodec struct{}

func (textCodec) Encode(item string) ([]byte, error) { return []byte(item), nil }
func (textCodec) Decode(data []byte) (string, error) { return string(data), nil }

// The format of a queue's node, Curator's: a version, items that each begin with a mark and
// their length, and an end mark. What follows the end is ignored.
const (
	packVersion = 0x00010001
	packItem    = 1
	packEnd     = 2
)

// pack encodes items as the data of one node.
func pack[T any](codec Codec[T], items []T) ([]byte, error) {
	data := binary.BigEndian.AppendUint32(nil, packVersion)
	for i, item := range items {
		one, err := codec.Encode(item)
		if err != nil {
			return nil, fmt.Errorf("incumbent: encode item %d: %w", i, err)
		}
		data = binary.BigEndian.AppendUint32(append(data, packItem), uint32(len(one)))
		data = append(data, one...)
	}
	return append(data, packEnd), nil
}

// errPack is the error for a node that no queue wrote.
var errPack = errors.New("incumbent: the node's data are not in the format of a queue's item")

// unpack decodes the items of one node.
func unpack[T any](codec Codec[T], data []byte) (items []T, err error) {
	if len(data) < 4 || binary.BigEndian.Uint32(data) != packVersion {
		return nil, errPack
	}
	for data = data[4:]; len(data) > 0; {
		mark := data[0]
		data = data[1:]
		if mark == packEnd {
			return items, nil
		}
		if mark != packItem || len(data) < 4 {
			return nil, errPack
		}
		n := binary.BigEndian.Uint32(data)
		if data = data[4:]; uint64(n) > uint64(len(data)) {
			return nil, errPack
		}
		item, err := codec.Decode(data[:n:n])
		if err != nil {
			return nil, fault.Because(fmt.Sprintf("incumbent: decode item %d: %v", len(items), err),
				err) // it may have some of the item, which others wrote
		}
		items, data = append(items, item), data[n:]
	}
	return nil, errPack
}
