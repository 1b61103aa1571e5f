package incumbent

import "sync"

// maxConcurrentReads is how many nodes of a line are read at a time.
const maxConcurrentReads = 16

// gather reads so many nodes, some at a time. The error is that of the first that
// could not be read; then there is nothing else.
func gather[T any](n int, read func(i int) (T, error)) ([]T, error) {
	found, errs := make([]T, n), make([]error, n)
	var all sync.WaitGroup
	slots := make(chan struct{}, maxConcurrentReads)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			found[i], errs[i] = read(i)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
