module github.com/incumbent-go/incumbent/docs/examples/grpc

go 1.26.0

toolchain go1.26.11

require (
	github.com/incumbent-go/incumbent v0.0.0
	github.com/incumbent-go/incumbent/integrations/grpc v0.0.0
	google.golang.org/grpc v1.85.0
)

require (
	github.com/go-zookeeper/zk v1.0.4 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/mattn/go-colorable v0.1.16 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/rs/zerolog v1.35.1 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/incumbent-go/incumbent => ../../..

replace github.com/incumbent-go/incumbent/integrations/grpc => ../../../integrations/grpc
