//go:build !race

package figures

const many = 10_000
