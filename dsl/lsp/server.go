package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/dsl/lsp/language"
)

// Options are the options of Serve.
type Options struct {
	// Spec holds the options for vetting files. The server sets Read.
	Spec dsl.Options
	// Version is the server version reported to clients.
	Version string
	// Log receives internal errors, one per line; nil discards them.
	Log io.Writer
}

// ErrNoShutdown reports that the client disconnected, or sent exit, without a
// shutdown request.
var ErrNoShutdown = errors.New("the client ended without a shutdown")

// Serve serves one client with the Language Server Protocol until it disconnects
// or the context ends. It returns nil if the client requested the shutdown. It
// writes only protocol messages to out, and closes it at the end.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser, o Options) error {
	root, err := language.Decode(jsonschema.NewTracked(o.Spec.Catalog, o.Spec.Checks))
	if err != nil {
		return fmt.Errorf("read the schema of the language: %w", err)
	}
	s := newServer(o, &language.Language{Root: root})
	s.rpc = jrpc2.NewServer(s.methods(), &jrpc2.ServerOptions{AllowPush: true, DisableBuiltin: true, Concurrency: concurrency})
	living, stop := context.WithCancel(ctx)
	s.ctx = living
	s.rpc.Start(channel.LSP(closable(in, out)))
	var done sync.WaitGroup
	done.Go(func() { s.work(living) })
	leave := context.AfterFunc(ctx, s.rpc.Stop)
	err = s.rpc.Wait()
	leave()
	stop()
	done.Wait()
	s.searches.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.phase == leaving:
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return errors.Join(ErrNoShutdown, err)
	}
	return ErrNoShutdown
}

// closable returns an input that ends when it is closed, even if the client's
// input stays open and silent.
func closable(in io.Reader, out io.WriteCloser) (io.Reader, io.WriteCloser) {
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(frames(w, in)) // nil at the end of the input
	}()
	return r, &closing{out, r}
}

type closing struct {
	io.WriteCloser
	in *io.PipeReader
}

// Close closes both directions.
func (c *closing) Close() error { return errors.Join(c.in.Close(), c.WriteCloser.Close()) }

// concurrency is the maximum number of concurrent requests.
const concurrency = 4

// phase is the phase of the protocol.
type phase int

const (
	begun phase = iota
	ready
	leaving
)

type server struct {
	options  Options
	language *language.Language
	rpc      *jrpc2.Server
	ctx      context.Context // ends when the client disconnects

	publishMu sync.Mutex // acquired before mu

	mu        sync.Mutex
	phase     phase
	inBytes   bool // positions count bytes
	snippets  bool
	base      string                  // workspace folder
	buffers   map[string]*buffer      // by URI
	paths     map[string]*buffer      // by path
	disk      map[string]*diskFile    // files that are not open, as last read
	roots     map[string]*vetResult   // vetted files by path
	tools     map[string][]guard.Tool // last known tools of specs, by path
	dirty     []string                // files to vet, the next one last
	published map[string]string       // diagnostics last sent to the client, by URI
	running   string                  // the file being vetted; "" if none
	stop      context.CancelFunc      // cancels that
	wake      chan struct{}
	searches  sync.WaitGroup // for specs that read an open file
}

func newServer(o Options, l *language.Language) *server {
	if o.Log == nil {
		o.Log = io.Discard
	}
	return &server{
		options: o, language: l, buffers: map[string]*buffer{}, paths: map[string]*buffer{}, disk: map[string]*diskFile{},
		roots: map[string]*vetResult{}, tools: map[string][]guard.Tool{}, published: map[string]string{}, wake: make(chan struct{}, 1),
	}
}

// methods returns the methods that a client may call.
func (s *server) methods() handler.Map {
	return handler.Map{
		"initialize":                       on(s, "initialize", s.initialize),
		"initialized":                      on(s, "initialized", s.ignore),
		"shutdown":                         on(s, "shutdown", s.shutdown),
		"exit":                             on(s, "exit", s.exit),
		"$/cancelRequest":                  on(s, "$/cancelRequest", s.cancel),
		"$/setTrace":                       on(s, "$/setTrace", s.ignore),
		"workspace/didChangeConfiguration": on(s, "workspace/didChangeConfiguration", s.ignore),
		"workspace/didChangeWatchedFiles":  on(s, "workspace/didChangeWatchedFiles", s.didSave),
		"textDocument/didOpen":             on(s, "textDocument/didOpen", s.didOpen),
		"textDocument/didChange":           on(s, "textDocument/didChange", s.didChange),
		"textDocument/didSave":             on(s, "textDocument/didSave", s.didSave),
		"textDocument/didClose":            on(s, "textDocument/didClose", s.didClose),
		"textDocument/completion":          on(s, "textDocument/completion", s.completion),
		"textDocument/hover":               on(s, "textDocument/hover", s.hover),
		"textDocument/definition":          on(s, "textDocument/definition", s.definition),
		"textDocument/references":          on(s, "textDocument/references", s.references),
		"textDocument/prepareRename":       on(s, "textDocument/prepareRename", s.prepareRename),
		"textDocument/rename":              on(s, "textDocument/rename", s.rename),
		"textDocument/documentSymbol":      on(s, "textDocument/documentSymbol", s.symbols),
		"textDocument/documentLink":        on(s, "textDocument/documentLink", s.links),
		"textDocument/formatting":          on(s, "textDocument/formatting", s.formatting),
		"textDocument/codeAction":          on(s, "textDocument/codeAction", s.actions),
	}
}

// notInitialized is the protocol's error code for requests before initialize.
const notInitialized jrpc2.Code = -32002

// on converts a function to a method: it decodes the params, rejects calls in the
// wrong phase, and converts a panic to a logged error.
func on[P any](s *server, name string, f func(context.Context, *P) (any, error)) jrpc2.Handler {
	return func(ctx context.Context, req *jrpc2.Request) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				fmt.Fprintf(s.options.Log, "pexctl lsp: %s: %v\n%s", name, p, debug.Stack())
				result, err = nil, jrpc2.Errorf(jrpc2.InternalError, "%s: internal error; see the log", name)
			}
		}()
		if err := s.checkPhase(name); err != nil {
			return nil, err
		}
		var params P
		if req.HasParams() {
			if err := req.UnmarshalParams(&params); err != nil {
				return nil, err
			}
		}
		return f(ctx, &params)
	}
}

// checkPhase rejects calls before initialize and after shutdown.
func (s *server) checkPhase(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case name == "exit" || name == "$/cancelRequest":
		return nil
	case s.phase == begun && name != "initialize":
		return jrpc2.Errorf(notInitialized, "%s before initialize", name)
	case s.phase == ready && name == "initialize":
		return jrpc2.Errorf(jrpc2.InvalidRequest, "initialize was already called")
	case s.phase == leaving:
		return jrpc2.Errorf(jrpc2.InvalidRequest, "%s after shutdown", name)
	}
	return nil
}

func (s *server) ignore(context.Context, *struct{}) (any, error) { return nil, nil }

func (s *server) initialize(_ context.Context, p *initializeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = ready
	s.inBytes = slices.Contains(p.Capabilities.General.PositionEncodings, "utf-8")
	s.snippets = p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	for _, f := range append(p.WorkspaceFolders, folder{p.RootURI}) {
		if s.base == "" {
			s.base = pathOf(f.URI)
		}
	}
	if s.base == "" {
		s.base, _ = filepath.Abs(".") // on error, untitled documents have no folder
	}
	encoding := "utf-16"
	if s.inBytes {
		encoding = "utf-8"
	}
	return map[string]any{
		"capabilities": map[string]any{
			"positionEncoding":           encoding,
			"textDocumentSync":           map[string]any{"openClose": true, "change": 2, "save": true},
			"completionProvider":         map[string]any{"triggerCharacters": []string{".", "{", "<", ":", " ", "/", "|"}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"referencesProvider":         true,
			"renameProvider":             map[string]any{"prepareProvider": true},
			"documentSymbolProvider":     true,
			"documentLinkProvider":       map[string]any{},
			"documentFormattingProvider": true,
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{"quickfix"}},
		},
		"serverInfo": map[string]string{"name": "pexctl", "version": s.options.Version},
	}, nil
}

func (s *server) shutdown(context.Context, *struct{}) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = leaving
	return nil, nil
}

func (s *server) exit(context.Context, *struct{}) (any, error) {
	go s.rpc.Stop()
	return nil, nil
}

// cancel cancels a request.
func (s *server) cancel(_ context.Context, p *struct {
	ID jsonID `json:"id"`
},
) (any, error) {
	s.rpc.CancelRequest(string(p.ID))
	return nil, nil
}

// jsonID is the id of a request as JSON, a number or a string.
type jsonID string

// UnmarshalJSON stores the id unchanged.
func (id *jsonID) UnmarshalJSON(b []byte) error { *id = jsonID(b); return nil }
