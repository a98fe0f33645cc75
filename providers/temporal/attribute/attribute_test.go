package attribute_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/pexctl/pex/providers/temporal/attribute"
)

// operator is the part of a server that stores search attributes.
type operator struct {
	operatorservice.UnimplementedOperatorServiceServer
	mu     sync.Mutex
	types  map[string]enums.IndexedValueType
	faster func() // called before attributes are added, as another process would
	denied bool
}

func (o *operator) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest) (*operatorservice.ListSearchAttributesResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.denied {
		return nil, serviceerror.ToStatus(serviceerror.NewPermissionDenied("no", "")).Err()
	}
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: maps.Clone(o.types)}, nil
}

func (o *operator) AddSearchAttributes(_ context.Context, r *operatorservice.AddSearchAttributesRequest) (*operatorservice.AddSearchAttributesResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.faster != nil {
		o.faster()
	}
	for name := range r.GetSearchAttributes() {
		if _, ok := o.types[name]; ok {
			return nil, serviceerror.ToStatus(serviceerror.NewAlreadyExists(name)).Err()
		}
	}
	maps.Copy(o.types, r.GetSearchAttributes())
	return &operatorservice.AddSearchAttributesResponse{}, nil
}

// connect serves an operator and returns a client of it.
func connect(t *testing.T, o *operator) operatorservice.OperatorServiceClient {
	t.Helper()
	s := grpc.NewServer()
	operatorservice.RegisterOperatorServiceServer(s, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	c, err := client.NewLazyClient(client.Options{HostPort: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.OperatorService()
}

func TestMissingAttributesAreNamedAndCreated(t *testing.T) {
	o := &operator{types: map[string]enums.IndexedValueType{"PexAgent": enums.INDEXED_VALUE_TYPE_KEYWORD, "Other": enums.INDEXED_VALUE_TYPE_TEXT}}
	c := connect(t, o)
	err := attribute.Check(t.Context(), c, "my agents")
	const want = "the namespace my agents has no search attributes PexDigest, PexTenant, PexStatus, PexStopReason, PexMemory, PexEval, PexCase, PexWaiting, PexCostUSD, PexTokens; create them with " +
		"`temporal operator search-attribute create --namespace 'my agents' --name PexDigest --type Keyword --name PexTenant --type Keyword --name PexStatus --type Keyword --name PexStopReason --type Keyword" +
		" --name PexMemory --type Keyword --name PexEval --type Keyword --name PexCase --type Keyword --name PexWaiting --type Bool --name PexCostUSD --type Double --name PexTokens --type Int`, or let pexctl worker --create-attributes do it"
	if _, ok := errors.AsType[*attribute.MissingError](err); !ok {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if err := attribute.Create(t.Context(), c, "my agents"); err != nil {
			t.Fatal(err)
		}
	}
	if err := attribute.Check(t.Context(), c, "my agents"); err != nil || len(o.types) != len(attribute.All())+1 {
		t.Errorf("%v %v", err, o.types)
	}
}

func TestAnotherProcessMayCreateAttributesAtTheSameTime(t *testing.T) {
	o := &operator{types: map[string]enums.IndexedValueType{}}
	o.faster = func() { o.types["PexTokens"] = enums.INDEXED_VALUE_TYPE_INT }
	if err := attribute.Create(t.Context(), connect(t, o), "default"); err != nil || len(o.types) != len(attribute.All()) {
		t.Errorf("%v %v", err, o.types)
	}
}

func TestAttributesOfOtherTypesAreNamed(t *testing.T) {
	o := &operator{types: map[string]enums.IndexedValueType{"PexAgent": enums.INDEXED_VALUE_TYPE_TEXT}}
	err := attribute.Create(t.Context(), connect(t, o), "default")
	if _, ok := errors.AsType[*attribute.TypeError](err); !ok || !strings.Contains(err.Error(), "PexAgent is Text instead of Keyword") {
		t.Error(err)
	}
}

func TestAClientThatMayNotListAttributes(t *testing.T) {
	err := attribute.Check(t.Context(), connect(t, &operator{denied: true}), "default")
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); !ok || !strings.Contains(err.Error(), "list the search attributes of the namespace default") {
		t.Error(err)
	}
}
