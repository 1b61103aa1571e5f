//go:build js && wasm

package main

import (
	"syscall/js"

	"github.com/incumbent-go/incumbent/internal/play"
)

func main() {
	host := new(play.Host)
	ask := func(_ js.Value, args []js.Value) any {
		if len(args) != 1 || args[0].Type() != js.TypeString {
			return `{"error":"play: want one text, the request"}`
		}
		answer, _ := host.AskJSON([]byte(args[0].String()))
		return string(answer)
	}
	js.Global().Set("play", map[string]any{"ask": js.FuncOf(ask)})
	if ready := js.Global().Get("playReady"); ready.Type() == js.TypeFunction {
		ready.Invoke()
	}
	select {}
}
