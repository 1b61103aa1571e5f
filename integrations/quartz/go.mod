module github.com/incumbent-go/incumbent/integrations/quartz

go 1.26.0

toolchain go1.26.11

require go.uber.org/goleak v1.3.0
