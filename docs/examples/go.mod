module github.com/incumbent-go/incumbent/docs/examples

go 1.26.0

toolchain go1.26.11

require (
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/go-zookeeper/zk v1.0.4 // indirect
	github.com/incumbent-go/incumbent v0.0.0
	github.com/jonboulle/clockwork v0.5.0
	github.com/oklog/run v1.2.0
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/sync v0.25.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/mattn/go-colorable v0.1.16 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	github.com/rs/zerolog v1.35.1 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/incumbent-go/incumbent => ../..
