package dial_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// frontend is as much of a Temporal server as a connection needs.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	namespace string
	refuse    func(authorization string) error // nil = nobody
}

func (f *frontend) GetSystemInfo(ctx context.Context, _ *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, f.check(ctx)
}

func (f *frontend) DescribeNamespace(ctx context.Context, r *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if err := f.check(ctx); err != nil {
		return nil, err
	}
	if r.GetNamespace() != f.namespace {
		return nil, serviceerror.ToStatus(serviceerror.NewNamespaceNotFound(r.GetNamespace())).Err()
	}
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (f *frontend) check(ctx context.Context) error {
	if f.refuse == nil {
		return nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	return f.refuse(append(md.Get("authorization"), "")[0])
}

// serve runs a gRPC server until the test ends, and returns its address. A nil frontend is a server
// of something else.
func serve(t *testing.T, f *frontend, options ...grpc.ServerOption) string {
	t.Helper()
	s := grpc.NewServer(options...)
	if f != nil {
		workflowservice.RegisterWorkflowServiceServer(s, f)
	}
	l := listener(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// certificate returns a certificate for 127.0.0.1, and the file with its authority.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.TLS.Certificates[0], file
}

func withTLS(c *tls.Config) grpc.ServerOption { return grpc.Creds(credentials.NewTLS(c)) }
