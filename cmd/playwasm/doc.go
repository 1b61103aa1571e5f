// Command playwasm is package play for a page: it is built for WebAssembly, and runs in a Worker of the static site
// that "make site" writes. It sets globalThis.play, whose function ask takes and returns JSON, and calls
// globalThis.playReady.
package main
