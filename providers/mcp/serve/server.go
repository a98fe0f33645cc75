package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
)

// Agents are the agents that the client of a context may run. The texts of errors are for
// the client.
type Agents interface {
	// Agents returns the agents by name.
	Agents(ctx context.Context) (map[string]*engine.Program, error)
	// Agent returns one of them, or why the client cannot run it.
	Agent(ctx context.Context, name string) (*engine.Program, error)
	// Start starts a run with a JSON object of parameters, and waits for it like Runs.Wait.
	Start(ctx context.Context, agent string, parameters json.RawMessage, most time.Duration, report func(line string)) (*engine.Result, error)
}

// Runs are the runs of the client of a context. The texts of errors are for the client.
type Runs interface {
	// Wait returns the state of a run once it has ended or has an open question, or when most
	// is over. It reports the progress of the run meanwhile; report may be nil.
	Wait(ctx context.Context, run string, most time.Duration, report func(line string)) (*engine.Result, error)
	// Answer answers an open question, in the form that interrupt.Parse reads. A question with
	// only a path is answered whatever it asks; an empty path means the only open question.
	Answer(ctx context.Context, run string, q interrupt.Question, answer string) error
	// CanAnswer reports whether the client may answer questions of a run.
	CanAnswer(ctx context.Context, run string) bool
	// Asking returns a context for asking the client's user a question. It ends once the
	// question is no longer open, or the server stops. The caller must call end.
	Asking(ctx context.Context, run, path string) (open context.Context, end func(), err error)
	// Cancel cancels a run.
	Cancel(ctx context.Context, run string) error
}

// DefaultWait is how long a call waits for a run by default. Many clients give up after 60 seconds.
const DefaultWait = 45 * time.Second

// Options configure a Server.
type Options struct {
	Agents  Agents
	Runs    Runs
	Name    string        // of the server, for clients; "" = pexctl
	Version string        // of the server, for clients
	Wait    time.Duration // how long a call waits for a run; 0 = DefaultWait
	// User identifies the client of an HTTP request, so that no other client can use its
	// session; nil or "" = clients are not distinguished.
	User func(ctx context.Context) string
}

// Server serves agents as tools. It is safe for concurrent use.
type Server struct {
	o        Options
	mcp      *sdk.Server
	runTools []*sdk.Tool

	mu         sync.Mutex
	registered map[string]bool   // names of agents for which mcp has a tool
	owners     map[string]string // clients of the open sessions, by id of the session
}

const instructions = "Each tool but run_get, run_answer and run_cancel runs an agent, which plans, calls tools of its own and answers. " +
	"A run can take minutes. If a result says that the run continues, call run_get with its id. " +
	"If a result says that the run waits for a decision, ask the user, and pass the decision on with run_answer: never decide for the user."

// New returns a Server.
func New(o Options) *Server {
	o.Wait = cmp.Or(o.Wait, DefaultWait)
	s := &Server{o: o, registered: map[string]bool{}, owners: map[string]string{}}
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: cmp.Or(o.Name, "pexctl"), Version: cmp.Or(o.Version, "0")}, &sdk.ServerOptions{
		Instructions: instructions,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }, // each client has its own agents and runs
		// The list of prompts is empty. Some clients request it whatever the server declares.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}},
	})
	s.addRunTools()
	s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "run", Title: "A run", URITemplate: runScheme + "{run}", MIMEType: "application/json",
		Description: "The state of a run: status, answer, plan, steps, open questions and usage.",
	}, s.readRun)
	s.mcp.AddReceivingMiddleware(s.forClient)
	return s
}

// ServeIO serves one client over a pair of streams, one message per line, until from ends or
// ctx is cancelled.
func (s *Server) ServeIO(ctx context.Context, from io.Reader, to io.Writer) error {
	return s.mcp.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(from), Writer: keepOpen{to}})
}

// keepOpen is a writer that the protocol must not close.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }

// forClient limits the tools to the agents of the client of each request.
func (s *Server) forClient(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx = clientContext(ctx, req)
		switch method {
		case "tools/list":
			agents, err := s.o.Agents.Agents(ctx)
			if err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
			}
			res, err := next(ctx, method, req)
			if list, ok := res.(*sdk.ListToolsResult); ok {
				list.Tools, list.NextCursor = append(agentTools(agents), s.runTools...), ""
			}
			return res, err
		case "tools/call":
			call, ok := req.GetParams().(*sdk.CallToolParamsRaw)
			if !ok || isRunTool(call.Name) {
				break
			}
			if _, err := s.o.Agents.Agent(ctx, call.Name); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
			}
			s.register(call.Name)
		}
		return next(ctx, method, req)
	}
}

// register adds a tool for the agents with a name. Clients do not see its definition, since
// those of several tenants may have the same name.
func (s *Server) register(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.registered[name] {
		s.registered[name] = true
		s.mcp.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type": "object"}`)}, s.callAgent)
	}
}
