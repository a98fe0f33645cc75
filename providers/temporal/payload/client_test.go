package payload_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/providers/temporal/payload"
)

// service is as much of Temporal's server as the tests need. It answers queries with the last input of a workflow.
type service struct {
	workflowservice.UnimplementedWorkflowServiceServer
	mu       sync.Mutex
	inputs   []*commonpb.Payload
	unready  int // requests to start workflows that fail
	requests int
}

func (s *service) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (s *service) StartWorkflowExecution(_ context.Context, r *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.unready > 0 {
		s.unready--
		return nil, status.Error(codes.Unavailable, "not ready")
	}
	s.inputs = append(s.inputs, r.GetInput().GetPayloads()...)
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "run"}, nil
}

func (s *service) QueryWorkflow(context.Context, *workflowservice.QueryWorkflowRequest) (*workflowservice.QueryWorkflowResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.inputs[len(s.inputs)-1]
	return &workflowservice.QueryWorkflowResponse{QueryResult: &commonpb.Payloads{Payloads: []*commonpb.Payload{last}}}, nil
}

// serve starts the service, and returns a function that connects a client with a codec to it.
func serve(t *testing.T) (*service, func(*payload.Codec) client.Client) {
	t.Helper()
	s := &service{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(g, s)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return s, func(c *payload.Codec) client.Client {
		o := client.Options{HostPort: l.Addr().String(), Logger: silent{}}
		if err := c.Configure(&o); err != nil {
			t.Fatal(err)
		}
		connected, err := client.Dial(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(connected.Close)
		return connected
	}
}

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

func start(t *testing.T, c client.Client, input []byte) error {
	t.Helper()
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "q"}, "workflow", input)
	return err
}

func query(t *testing.T, c client.Client) ([]byte, error) {
	t.Helper()
	v, err := c.QueryWorkflow(t.Context(), "id", "", "q")
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	err = v.Get(&out)
	return out, err
}

func TestClientEncodesRequestsAndDecodesResponses(t *testing.T) {
	s, connect := serve(t)
	store := blob.NewDir(t.TempDir())
	c := connect(payload.New(payload.Options{Keys: ring(t, "a:"+keyA), Store: store}))
	for _, input := range [][]byte{[]byte("small"), noise(2_500_000)} {
		if err := start(t, c, input); err != nil {
			t.Fatal(err)
		}
		sent := s.inputs[len(s.inputs)-1]
		if string(sent.Metadata["encoding"]) != "binary/pex" || len(sent.Data) > 200 {
			t.Errorf("the server got %.200s", sent)
		}
		v, err := c.QueryWorkflow(t.Context(), "id", "", "q")
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		if err := v.Get(&got); err != nil || string(got) != string(input) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	}
}

// TestRequestThatIsSentAgainIsEncodedOnce lets the SDK repeat a request, whose payloads the interceptor has replaced.
func TestRequestThatIsSentAgainIsEncodedOnce(t *testing.T) {
	s, connect := serve(t)
	c := connect(payload.New(payload.Options{Keys: ring(t, "a:"+keyA)}))
	s.unready = 2
	if err := start(t, c, []byte("x")); err != nil || s.requests != 3 {
		t.Fatalf("%d requests, %v", s.requests, err)
	}
	if got, err := query(t, c); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestClientNamesWhatItCannotDecode(t *testing.T) {
	_, connect := serve(t)
	if err := start(t, connect(payload.New(payload.Options{Keys: ring(t, "a:"+keyA)})), []byte("x")); err != nil {
		t.Fatal(err)
	}
	_, err := query(t, connect(payload.New(payload.Options{Keys: ring(t, "a:"+keyB)})))
	wantKind(t, err, payload.WrongKey)
	_, err = query(t, connect(payload.New(payload.Options{})))
	wantKind(t, err, payload.UnknownKey)
}

func TestClientRefusesPayloadsThatAreNotEncrypted(t *testing.T) {
	_, connect := serve(t)
	if err := start(t, connect(payload.New(payload.Options{})), []byte("forged")); err != nil {
		t.Fatal(err)
	}
	_, err := query(t, connect(payload.New(payload.Options{Keys: ring(t, keyA)})))
	wantKind(t, err, payload.NotEncrypted)
	got, err := query(t, connect(payload.New(payload.Options{Keys: ring(t, keyA), AcceptPlain: true})))
	if err != nil || string(got) != "forged" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestRequestsThatCannotBeEncodedAreNotSent checks that the SDK does not repeat them either.
func TestRequestsThatCannotBeEncodedAreNotSent(t *testing.T) {
	s, connect := serve(t)
	failing := &scripted{Store: blob.NewDir(t.TempDir()), kinds: []blob.Kind{blob.Denied}}
	err := start(t, connect(payload.New(payload.Options{Store: failing})), noise(100_000))
	wantKind(t, err, "blob_denied")
	err = start(t, connect(payload.New(payload.Options{})), noise(2_500_000))
	wantKind(t, err, payload.NoStore)
	if s.requests != 0 || failing.calls != 1 {
		t.Errorf("%d requests, %d calls of the store", s.requests, failing.calls)
	}
}

func TestErrorsOfTheServerRemain(t *testing.T) {
	s, connect := serve(t)
	c := connect(payload.New(payload.Options{Keys: ring(t, keyA)}))
	if err := start(t, c, nil); err != nil {
		t.Fatal(err)
	}
	s.inputs = []*commonpb.Payload{{}}
	if _, err := c.DescribeWorkflowExecution(t.Context(), "id", ""); !isUnimplemented(err) {
		t.Errorf("got %v", err)
	}
}

func isUnimplemented(err error) bool {
	_, ok := errors.AsType[*serviceerror.Unimplemented](err)
	return ok
}

// TestFailuresAreEncryptedWithKeys converts a failure as a worker does.
func TestFailuresAreEncryptedWithKeys(t *testing.T) {
	const secret = "the secret words of a prompt"
	convert := func(o payload.Options) (*failurepb.Failure, client.Options) {
		var options client.Options
		if err := payload.New(o).Configure(&options); err != nil {
			t.Fatal(err)
		}
		if options.FailureConverter == nil {
			return temporal.GetDefaultFailureConverter().ErrorToFailure(errors.New(secret)), options
		}
		return options.FailureConverter.ErrorToFailure(errors.New(secret)), options
	}
	if f, _ := convert(payload.Options{}); !strings.Contains(f.Message, secret) {
		t.Errorf("without keys: %s", f)
	}
	f, options := convert(payload.Options{Keys: ring(t, keyA)})
	if strings.Contains(f.Message, secret) || f.EncodedAttributes == nil {
		t.Errorf("with keys: %s", f)
	}
	if err := options.FailureConverter.FailureToError(f); !strings.Contains(err.Error(), secret) {
		t.Errorf("back: %v", err)
	}
}

// TestErrorsOfPayloadsAreReadable converts the failure of a worker with a wrong key.
func TestErrorsOfPayloadsAreReadable(t *testing.T) {
	var o client.Options
	if err := payload.New(payload.Options{Keys: ring(t, "b:"+keyB)}).Configure(&o); err != nil {
		t.Fatal(err)
	}
	cause := decodeError(payload.New(payload.Options{Keys: ring(t, "b:"+keyB)}), encode(t, payload.New(payload.Options{Keys: ring(t, "a:"+keyA)}), value(nil)))
	if f := o.FailureConverter.ErrorToFailure(fmt.Errorf("input: %w", cause)); !strings.Contains(f.Message, "it is encrypted with key a") || f.EncodedAttributes != nil {
		t.Errorf("got %s", f)
	}
}

// twoKeys encodes with one codec and decodes with another.
type twoKeys struct{ to, from *payload.Codec }

func (k twoKeys) Encode(p []*commonpb.Payload) ([]*commonpb.Payload, error) { return k.to.Encode(p) }

func (k twoKeys) Decode(p []*commonpb.Payload) ([]*commonpb.Payload, error) { return k.from.Decode(p) }

// TestActivityWithUnreadableInputDoesNotStart is why no token is spent.
func TestActivityWithUnreadableInputDoesNotStart(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestActivityEnvironment()
	env.SetDataConverter(converter.NewCodecDataConverter(payload.Values(), twoKeys{
		payload.New(payload.Options{Keys: ring(t, "a:"+keyA)}), payload.New(payload.Options{Keys: ring(t, "a:"+keyB)}),
	}))
	called := false
	activity := func([]byte) error {
		called = true
		return nil
	}
	env.RegisterActivity(activity)
	_, err := env.ExecuteActivity(activity, []byte("x"))
	if err == nil || called || !strings.Contains(err.Error(), "is not the key of this name that encrypted it") {
		t.Errorf("called: %v, %v", called, err)
	}
}

func TestWorkersSendPayloadsOfAnySize(t *testing.T) {
	var o worker.Options
	payload.New(payload.Options{}).ConfigureWorker(&o)
	if !o.DisablePayloadErrorLimit {
		t.Error("the SDK refuses large payloads before they are encoded")
	}
}
