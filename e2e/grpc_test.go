package e2e

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirproxy/weir/e2e/scenario"
)

// TestGRPC is B61: a client is told RESOURCE_EXHAUSTED, with the body as its
// message and Retry-After in the metadata, and never UNAVAILABLE, which it would
// try again. Each listener allows one call to a method.
func TestGRPC(t *testing.T) {
	const rules = `"rules": [{"name": "per-method", "key": [{"path": true}], "limits": [{"requests": 1, "window": "1h"}]}]`
	tests := map[string]struct {
		configuration string
		code          codes.Code
		message       string
	}{
		"default": {`{` + rules + `}`, codes.ResourceExhausted, "local_rate_limited"},
		"options": {`{` + rules + `, "reply": {"grpc_status": 7, "body": {"text": "%RULE% says: 100% full"}}}`, codes.PermissionDenied, "per-method says: 100% full"},
		"json":    {`{` + rules + `, "reply": {"body": {"format": "json"}}}`, codes.ResourceExhausted, `{"error":"rate_limited","rule":"per-method","retry_after":3600}`},
	}
	var listeners []any
	for name, test := range tests {
		listeners = append(listeners, listener(t, filter{name, test.configuration}))
	}
	// Weir goes before Envoy's grpc_web: after it, the 429 would become UNAVAILABLE.
	listeners = append(listeners, listener(t, filter{"web", `{` + rules + `}`}, func(_, manager object) {
		grpcWeb := extension("envoy.filters.http.grpc_web", "filters.http.grpc_web.v3.GrpcWeb", object{})
		manager["http_filters"] = slices.Insert(manager["http_filters"].([]any), 1, any(grpcWeb))
	}))
	envoy := startEnvoy(t, assemble(t, listeners, overHTTP2(cluster(t, "upstream", startHealth(t)))), 2)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			addr := listenerOf(t, envoy, name)
			client := grpc_health_v1.NewHealthClient(dial(t, addr))
			if _, _, err := check(t, client); err != nil {
				t.Fatal(err)
			}
			header, trailer, err := check(t, client)
			if status.Code(err) != test.code || !scenario.Near(status.Convert(err).Message(), test.message, slow) {
				t.Errorf("refused: %v, want %v %q", err, test.code, test.message)
			}
			// A reply without messages is all trailer; grpc-go shows it as either.
			if wait := append(header.Get("retry-after"), trailer.Get("retry-after")...); len(wait) != 1 || !scenario.Near(wait[0], "3600", slow) {
				t.Errorf("retry-after %q, want 3600 once, in %v or %v", wait, header, trailer)
			}
			stream, err := client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				t.Errorf("a stream is another method: %v", err)
			}
			if stream, err = client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) != test.code {
				t.Errorf("a refused stream: %v, want %v", err, test.code)
			}
		})
	}
	for _, step := range []struct{ listener, contentType, status, grpcStatus string }{
		{"web", "application/grpc-web+proto", "200 OK", ""}, // its status is in the body
		{"web", "application/grpc-web+proto", "429 Too Many Requests", ""},
		{"web", "application/grpc-web-text", "429 Too Many Requests", ""},
		{"default", "application/grpc-web", "429 Too Many Requests", ""},
		{"default", "application/grpc", "200 OK", "8"},
		{"default", "application/grpc+proto", "200 OK", "8"},
		{"default", "application/json", "429 Too Many Requests", ""},
		{"default", "", "429 Too Many Requests", ""},
	} {
		addr := listenerOf(t, envoy, step.listener)
		got := post(t, addr, "/grpc.health.v1.Health/Check", step.contentType)
		if got.Status != step.status || got.Header.Get("grpc-status") != step.grpcStatus {
			t.Errorf("%q to %q: %s %v, want %s, grpc-status %q", step.contentType, step.listener, got.Status, got.Header, step.status, step.grpcStatus)
		}
	}
}

// startHealth starts a gRPC server with nothing but the health service.
func startHealth(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(socket) }()
	t.Cleanup(server.Stop)
	return socket.Addr().String()
}

func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func check(t *testing.T, client grpc_health_v1.HealthClient) (header, trailer metadata.MD, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = client.Check(ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.Header(&header), grpc.Trailer(&trailer))
	return header, trailer, err
}

// post sends an empty message over HTTP/1.1.
func post(t *testing.T, addr, path, contentType string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+path, strings.NewReader("\x00\x00\x00\x00\x00"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header["Content-Type"] = []string{contentType}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response
}

// overHTTP2 has Envoy speak HTTP/2 to a cluster, WebSockets included.
func overHTTP2(cluster object) object {
	cluster["typed_extension_protocol_options"] = object{
		"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": object{
			"@type":                "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
			"explicit_http_config": object{"http2_protocol_options": object{"allow_connect": true}},
		},
	}
	return cluster
}
