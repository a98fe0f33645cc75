package bedrock

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

const eventStream = "application/vnd.amazon.eventstream"

// chatModel is one LLM in one region.
type chatModel struct {
	config Config
	name   string
	access *access
	calls  modelhttp.Client
}

var _ model.Model = (*chatModel)(nil)

// maxBody is the maximum size of a complete reply in bytes. It is twice that of a streamed reply because of the JSON
// around the content. The SDK holds several copies.
const maxBody = 2 * modelhttp.MaxReply

// Build builds a model with the process's transport.
func Build(c *Config, s model.Settings) (model.Model, error) {
	return New(c, s, nil)
}

// New builds a model that sends its requests as s says. change, if not nil, adapts the transport's settings (tests).
func New(c *Config, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(s.BaseURL, "/")
	a := newAccess(c, s, base)
	w, err := modelhttp.Connect(s, cmp.Or(base, "bedrock "+a.region), a.secrets(), func(w *httpclient.Settings) {
		w.MaxBody = maxBody
		if change != nil {
			change(w)
		}
	})
	if err != nil {
		return nil, err
	}
	m := &chatModel{config: *c, name: s.Model, access: a}
	m.calls = modelhttp.Client{HTTP: w, Model: m.name, Type: m.typeError, Explain: m.explain}
	a.http = m.calls.HTTP.HTTP()
	return m, nil
}

// Generate implements model.Model. If a stream fails it is retried like any other failure, and the deltas start again.
func (m *chatModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	w, err := m.write(req)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
	}
	started := time.Now()
	return m.calls.Reply(ctx, req, func(ctx context.Context) (*model.Reply, error) {
		return m.attempt(ctx, w, started, stream)
	})
}

// attempt makes one request; a nil stream requests a complete reply.
func (m *chatModel) attempt(ctx context.Context, w *writer, started time.Time, stream func(model.Delta)) (*model.Reply, error) {
	client, err := m.access.client(ctx)
	if err != nil {
		return nil, err
	}
	if stream == nil {
		out, err := client.Converse(ctx, w.in)
		if err != nil {
			return nil, err
		}
		return convert(w, out)
	}
	return m.stream(ctx, client, w, started, stream)
}

// stream requests a streamed reply.
func (m *chatModel) stream(ctx context.Context, client *bedrockruntime.Client, w *writer, started time.Time, to func(model.Delta)) (*model.Reply, error) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	out, err := client.ConverseStream(reading, w.streamInput(), ownProtocol)
	if err != nil {
		return nil, err
	}
	events := out.GetStream()
	defer func() { // the SDK's goroutine must end before the body is closed
		stop()
		for range events.Events() { // discard what arrives late
		}
		_ = events.Close() // its errors are those of Err
	}()
	if kind := contentType(out.ResultMetadata); kind != "" && !strings.HasPrefix(kind, eventStream) {
		return nil, modelhttp.Bad("the server sent %s instead of an event stream", kind)
	}
	g := accumulator{draft: rawReply{request: w, id: requestID(out.ResultMetadata), model: w.id}, Stream: modelhttp.Stream{Deltas: to, Started: started}}
	for event := range events.Events() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := g.add(event); err != nil {
			return nil, err
		}
	}
	if err := events.Err(); err != nil {
		return nil, &streamError{err, g.draft.id}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return g.reply()
}

// ownProtocol gives a stream its own decoder. The SDK's clients share one among all their streams without a lock.
func ownProtocol(o *bedrockruntime.Options) { o.Protocol = restjson1.New(nil) }

// contentType says what a server sent.
func contentType(m smithymiddleware.Metadata) string { // contentType returns the Content-Type of a response.
	if raw, ok := middleware.GetRawResponse(m).(*smithyhttp.Response); ok {
		return raw.Header.Get("Content-Type")
	}
	return ""
}

// requestID returns the id that the server assigned to a request. Bedrock's replies have no other id.
func requestID(m smithymiddleware.Metadata) string {
	id, _ := middleware.GetRequestIDMetadata(m)
	return id
}
