package payload

import (
	"context"
	"errors"
	"sync/atomic"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// concurrent is how many payloads of a request or response are encoded or decoded at a time: a history may have many
// blobs.
const concurrent = 8

// Configure makes a client, and its workers, encode what they send and decode what they receive. With keys, the texts of
// failures are encrypted, too. The workers need ConfigureWorker. Requests whose payloads cannot be encoded fail with an
// *Error.
func (c *Codec) Configure(o *client.Options) error {
	intercept, err := proxy.NewPayloadVisitorInterceptor(proxy.PayloadVisitorInterceptorOptions{
		Outbound: &proxy.VisitPayloadsOptions{Visitor: c.send, SkipSearchAttributes: true, ConcurrencyLimit: concurrent},
		Inbound:  &proxy.VisitPayloadsOptions{Visitor: c.receive, SkipSearchAttributes: true, ConcurrencyLimit: concurrent},
	})
	if err != nil {
		return err
	}
	texts := &panicTexts{}
	o.DataConverter = workflow.DataConverterWithoutDeadlockDetection(blocking{c.Converter(), texts})
	if c.o.Keys != nil {
		o.FailureConverter = newFailures(c, texts)
	}
	o.PayloadLimits.PayloadSizeWarning = MaxSize // the SDK measures payloads before they are encoded
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithUnaryInterceptor(keepType), grpc.WithChainUnaryInterceptor(resetting(intercept)))
	return nil
}

// ConfigureWorker lets a worker send payloads of any size to the interceptor: the SDK measures them before.
func (*Codec) ConfigureWorker(o *worker.Options) { o.DisablePayloadErrorLimit = true }

// send encodes the payloads of a request.
func (c *Codec) send(ctx *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out, err := each(ctx.Context, payloads, c.encode)
	if e, ok := errors.AsType[*Error](err); ok {
		unencodedIn(ctx).Store(e)
		if !e.Temporary() {
			return nil, &finalError{e} // the SDK would repeat the request for a minute
		}
	}
	return out, err
}

// receive decodes the payloads of a response. One that cannot be decoded remains, for Converter.
func (c *Codec) receive(ctx *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(ctx.Context, payloads, func(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
		decoded, err := c.decode(ctx, p)
		switch {
		case err == nil:
			return decoded, nil
		case isEncoded(p):
			return p, nil
		}
		refused := header{}.payload(nil)
		refused.Metadata[metaRefused] = []byte(NotEncrypted)
		return refused, nil
	})
}

// finalError is an *Error with a gRPC status that the SDK does not retry.
type finalError struct{ cause *Error }

// Error returns the text of the cause.
func (e *finalError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *finalError) Unwrap() error { return e.cause }

// GRPCStatus returns the status.
func (e *finalError) GRPCStatus() *status.Status { return status.New(codes.InvalidArgument, e.Error()) }

// unencoded is the error of the last attempt to send a request whose payloads could not be encoded, in its context.
type unencoded struct{ atomic.Pointer[Error] }

type unencodedKey struct{}

func unencodedIn(ctx context.Context) *unencoded {
	if u, ok := ctx.Value(unencodedKey{}).(*unencoded); ok {
		return u
	}
	return new(unencoded)
}

// keepType is outside of the SDK's interceptors, which turn every error into one of the server, and returns the *Error
// that they replaced.
func keepType(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	var u unencoded
	err := invoke(context.WithValue(ctx, unencodedKey{}, &u), method, req, reply, cc, opts...)
	if e := u.Load(); err != nil && e != nil {
		return e
	}
	return err
}

// resetting forgets the error of an earlier attempt, and calls next.
func resetting(next grpc.UnaryClientInterceptor) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		unencodedIn(ctx).Store(nil)
		return next(ctx, method, req, reply, cc, invoke, opts...)
	}
}
