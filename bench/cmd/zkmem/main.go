// Command zkmem serves the in-memory ZooKeeper of this library's tests until its input ends. It prints its address.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func main() {
	server := zkmem.New(zkmem.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		fmt.Fprintln(os.Stderr, "zkmem:", err)
		os.Exit(1)
	}
	fmt.Println(server.Addr())
	io.Copy(io.Discard, os.Stdin) // however it ends
}
