package incumbent

import "sync"

// maxConcurrentReads is how many nodes of a line are read concurrently.
const maxConcurrentReads = 16

// readConcurrently reads n nodes, some of them concurrently. The error is that of the first node that
// could not be read; then there is no other result.
func readConcurrently[T any](n int, read func(i int) (T, error)) ([]T, error) {
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
