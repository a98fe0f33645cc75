package dial

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Connection is a connection with one namespace of a server.
type Connection struct {
	Client    client.Client
	Address   string
	Namespace string
}

// Close closes the connection. Workers that use it must have stopped.
func (c *Connection) Close() { c.Client.Close() }

// Dial connects, and makes sure that the server has the namespace and admits this client. An error
// is an *Error, or the cause of ctx. A server that is starting is not waited for.
func Dial(ctx context.Context, s Settings) (*Connection, error) {
	t, err := s.load()
	if err != nil {
		return nil, err
	}
	c, err := client.DialContext(ctx, t.options)
	if err != nil {
		return nil, t.explain(ctx, err, s.timeout())
	}
	ask, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	if _, err := c.WorkflowService().DescribeNamespace(ask, &workflowservice.DescribeNamespaceRequest{Namespace: t.options.Namespace}); err != nil {
		c.Close()
		return nil, t.explain(ctx, err, s.timeout())
	}
	return &Connection{Client: c, Address: t.options.HostPort, Namespace: t.options.Namespace}, nil
}

// explain returns the Error of a call that failed.
func (t *target) explain(ctx context.Context, err error, timeout time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := &Error{Reason: ServerTrouble, Address: t.options.HostPort, Namespace: t.options.Namespace, Err: t.masked(err)}
	_, missing := errors.AsType[*serviceerror.NamespaceNotFound](err)
	switch code := codeOf(err); {
	case missing:
		e.Reason, e.Err = UnknownNamespace, nil
	case code == codes.PermissionDenied || code == codes.Unauthenticated:
		e.Reason = RefusedKey
	case code == codes.Unimplemented:
		e.Reason = NotTemporal
	case code == codes.Unavailable || code == codes.DeadlineExceeded || code == codes.Internal || code == codes.Unknown:
		t.probe(ctx, e, timeout)
	}
	return e
}

// codeOf returns the gRPC code of an error of the SDK.
func codeOf(err error) codes.Code {
	if service, ok := errors.AsType[serviceerror.ServiceError](err); ok {
		return service.Status().Code()
	}
	return status.Code(err)
}
