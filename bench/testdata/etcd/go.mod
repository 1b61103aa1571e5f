module github.com/incumbent-go/incumbent/bench/etcd

go 1.26.0

require (
	github.com/incumbent-go/incumbent/bench v0.0.0
	go.etcd.io/etcd/client/v3 v3.5.24
	go.uber.org/zap v1.17.0
)

require (
	github.com/coreos/go-semver v0.3.0 // indirect
	github.com/coreos/go-systemd/v22 v22.3.2 // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	go.etcd.io/etcd/api/v3 v3.5.24 // indirect
	go.etcd.io/etcd/client/pkg/v3 v3.5.24 // indirect
	go.uber.org/atomic v1.7.0 // indirect
	go.uber.org/multierr v1.6.0 // indirect
	golang.org/x/net v0.38.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.23.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20250106144421-5f5ef82da422 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250115164207-1a7da9e5054f // indirect
	google.golang.org/grpc v1.71.1 // indirect
	google.golang.org/protobuf v1.36.4 // indirect
)

replace (
	github.com/incumbent-go/incumbent => ../../../
	github.com/incumbent-go/incumbent/bench => ../../
)
