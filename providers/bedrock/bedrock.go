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

// model is one llm in one region.
type chatModel struct {
	config Config
	name   string
	access *access
	calls  modelhttp.Client
}

var _ model.Model = (*chatModel)(nil)

// maxAnswer is the bytes of a whole answer at most: twice what a streamed reply
// may say, for what JSON puts around it. The SDK holds it several times over.
const maxAnswer = 2 * modelhttp.MaxReply

// Build makes a model with the process's transport.
func Build(c *Config, s model.Settings) (model.Model, error) {
	return New(c, s, nil)
}

// New makes a model that sends its requests as settings say; change, if not
// nil, may adapt the transport's settings first (tests).
func New(c *Config, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(s.BaseURL, "/")
	a := newAccess(c, s, base)
	w, err := modelhttp.Connect(s, cmp.Or(base, "bedrock "+a.region), a.secrets(), func(w *httpclient.Settings) {
		w.MaxBody = maxAnswer
		if change != nil {
			change(w)
		}
	})
	if err != nil {
		return nil, err
	}
	m := &chatModel{config: *c, name: s.Model, access: a}
	m.calls = modelhttp.Client{HTTP: w, Model: m.name, Type: m.typed, Explain: m.tell}
	a.http = m.calls.HTTP.HTTP()
	return m, nil
}

// Generate implements model.Model. A stream that breaks off is repeated like
// any other failure, and its deltas then come again from the start.
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

// attempt makes one request, for a whole reply where stream is nil.
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
		return answer(w, out)
	}
	return m.stream(ctx, client, w, started, stream)
}

// stream asks for the reply in pieces.
func (m *chatModel) stream(ctx context.Context, client *bedrockruntime.Client, w *writer, started time.Time, to func(model.Delta)) (*model.Reply, error) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	out, err := client.ConverseStream(reading, w.streamed(), ownProtocol)
	if err != nil {
		return nil, err
	}
	events := out.GetStream()
	defer func() { // a goroutine of the SDK reads: it is gone before the body is closed
		stop()
		for range events.Events() { // what still came does not count
		}
		_ = events.Close() // its errors are those of Err
	}()
	if kind := contentType(out.ResultMetadata); kind != "" && !strings.HasPrefix(kind, eventStream) {
		return nil, modelhttp.Bad("the server sent %s where an event stream was asked for", kind)
	}
	g := gather{draft: draft{asked: w, id: requestID(out.ResultMetadata), model: w.id}, Stream: modelhttp.Stream{Deltas: to, Started: started}}
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

// ownProtocol gives a stream a decoder of its own: the SDK's clients share one
// among all their streams, without a lock.
func ownProtocol(o *bedrockruntime.Options) { o.Protocol = restjson1.New(nil) }

// contentType says what a server sent.
func contentType(m smithymiddleware.Metadata) string {
	if raw, ok := middleware.GetRawResponse(m).(*smithyhttp.Response); ok {
		return raw.Header.Get("Content-Type")
	}
	return ""
}

// requestID is the server's name of a request: Bedrock's replies have no other.
func requestID(m smithymiddleware.Metadata) string {
	id, _ := middleware.GetRequestIDMetadata(m)
	return id
}
