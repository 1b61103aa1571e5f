package incumbentgrpc

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

type healthServer struct {
	healthpb.UnimplementedHealthServer
	guard    *Guard
	services []string
}

// Health returns a health service (grpc.health.v1) whose services, and the server as a whole (""), are SERVING while
// this process leads, and NOT_SERVING otherwise. Each Check and List compares the clock with the deadline of belief;
// Watch sends a change when the term begins and when it ends, which it does at the deadline, too.
//
// The server as a whole is what probes ask for by default: have liveness probes ask for something else, or those who
// wait in line are restarted.
func (g *Guard) Health(services ...string) healthpb.HealthServer {
	return &healthServer{guard: g, services: append([]string{""}, services...)}
}

func (h *healthServer) status(service string, leads bool) healthpb.HealthCheckResponse_ServingStatus {
	switch {
	case !slices.Contains(h.services, service):
		return healthpb.HealthCheckResponse_SERVICE_UNKNOWN
	case leads:
		return healthpb.HealthCheckResponse_SERVING
	}
	return healthpb.HealthCheckResponse_NOT_SERVING
}

// Check answers for this instant.
func (h *healthServer) Check(_ context.Context, in *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse,
	error) {
	s := h.status(in.GetService(), h.guard.HasLeadership())
	if s == healthpb.HealthCheckResponse_SERVICE_UNKNOWN {
		return nil, status.Error(codes.NotFound, "incumbent: health: unknown service")
	}
	return &healthpb.HealthCheckResponse{Status: s}, nil
}

// List answers for this instant.
func (h *healthServer) List(context.Context, *healthpb.HealthListRequest) (*healthpb.HealthListResponse, error) {
	leads, all := h.guard.HasLeadership(), map[string]*healthpb.HealthCheckResponse{}
	for _, service := range h.services {
		all[service] = &healthpb.HealthCheckResponse{Status: h.status(service, leads)}
	}
	return &healthpb.HealthListResponse{Statuses: all}, nil
}

// Watch sends the status, and each change of it until the call ends.
func (h *healthServer) Watch(in *healthpb.HealthCheckRequest,
	stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	last := healthpb.HealthCheckResponse_UNKNOWN
	for {
		leads, changed := h.guard.believed()
		if s := h.status(in.GetService(), leads); s != last {
			if err := stream.Send(&healthpb.HealthCheckResponse{Status: s}); err != nil {
				return err
			}
			last = s
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
	}
}
