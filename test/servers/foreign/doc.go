// Package foreign runs the examples of docs/testing.md, which test clients in other languages against
// incumbent zk. Each needs its language and the language's client; make deps installs both.
package foreign
