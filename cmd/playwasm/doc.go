// Command playwasm is package play for a page: it is built for WebAssembly, and runs in a Worker of the static site that
// "make site" writes. It sets globalThis.play, whose functions take and return JSON, and calls globalThis.playReady.
package main
