package incumbent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/incumbent-go/incumbent/internal/fault"
)

// SharedCount is a number in a node that many processes read, write and watch: Curator's
// SharedCount, in its four bytes, so that Go and Java can use one.
//
// The number is in the log, if one is recorded. All its methods are safe to call from any
// goroutine. There is nothing to start or to close: if the node does not exist, the first
// call creates it, with the seed, and its parents as containers if the server can. To add
// to a number, rather than to replace it, use an AtomicLong.
type SharedCount struct{ number number }

// Count is a shared count as it was at one moment.
type Count struct {
	Value   int32
	Version int32 // of the node's data: TrySet compares it
}

// SharedCount returns a handle of a shared count; a count that does not exist begins with
// seed. The error says what is wrong with the path.
func (c *Client) SharedCount(path string, seed int32) (*SharedCount, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	return &SharedCount{number{c, path, map[string]string{"width": "4", "seed": strconv.Itoa(int(seed))}}}, nil
}

// Get reads the count, behind a check that a quorum commits: it sees all writes before the
// call. Curator's getCount returns the value of its last watch.
//
// Errors: ErrClosed, the context's, or an *Error (BADARGUMENTS if the node holds no number
// of four bytes).
func (s *SharedCount) Get(ctx context.Context) (Count, error) { return s.count(ctx, "get", "get", nil) }

// Set writes the count, whatever it was. If another client writes in the same moment, it
// tries again. Errors as for Get, and ErrOutcomeUnknown if no reply came and another client
// has written since, or the context ended meanwhile.
func (s *SharedCount) Set(ctx context.Context, value int32) (Count, error) {
	return s.count(ctx, "set", "set", map[string]int64{"operand": int64(value), "tries": 1 << 20})
}

// TrySet writes the count if it is still as it was read. It returns false, and the present
// count, if another client has written since, even the same value. Errors as for Set.
func (s *SharedCount) TrySet(ctx context.Context, was Count, value int32) (Count, bool, error) {
	now, err := s.count(ctx, "try set", "replace", map[string]int64{"operand": int64(value), "expected": int64(was.Version), "tries": 1 << 20})
	if errors.Is(err, errUnexpectedValue) {
		return now, false, nil
	}
	return now, err == nil, err
}

func (s *SharedCount) count(ctx context.Context, op, task string, options map[string]int64) (Count, error) {
	value, version, err := s.number.do(ctx, op, task, options)
	return Count{int32(value), version}, err
}

// Watch returns a feed of the count, now and whenever it is written, until the context ends
// or the loop over it is left. It can miss what Client.WatchNode can: the versions left out
// say how many writes. It yields nothing while the count does not exist.
func (s *SharedCount) Watch(ctx context.Context) iter.Seq2[Count, error] {
	s.number.client.check(ctx)
	return func(yield func(Count, error) bool) {
		for change, err := range s.number.client.WatchNode(ctx, s.number.path) {
			count := Count{Version: change.Stat.Version}
			switch {
			case err != nil:
			case !change.Exists:
				continue
			case len(change.Data) == 4:
				count.Value = int32(binary.BigEndian.Uint32(change.Data))
			default:
				err = fmt.Errorf("incumbent: %s holds %d bytes, and a shared count has 4", fault.Path(s.number.path),
					len(change.Data))
			}
			if !yield(count, err) {
				return
			}
		}
	}
}

// Path returns the node's path.
func (s *SharedCount) Path() string { return s.number.Path() }
