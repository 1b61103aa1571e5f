package async

import "sync"

// maxConcurrentReads is how many reads there are at a time.
const maxConcurrentReads = 16

// ReadAll reads n things, some of them concurrently. The error is that of the first one that
// could not be read; then there is no other result.
func ReadAll[T any](n int, read func(i int) (T, error)) ([]T, error) {
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
