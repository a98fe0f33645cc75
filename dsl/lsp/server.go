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

// Options is what Serve gets.
type Options struct {
	// Spec are the options by which files are vetted; Read is the server's own.
	Spec dsl.Options
	// Version is our version for clients.
	Version string
	// Log takes what goes wrong inside: one line each. nil = no one reads it.
	Log io.Writer
}

// ErrNoShutdown says that the client went away, or said exit, without asking
// for a shutdown before.
var ErrNoShutdown = errors.New("the client ended without a shutdown")

// Serve speaks the Language Server Protocol with one client until it leaves or
// the context ends. It returns nil when the client asked for the shutdown.
// Nothing but the protocol is written to out, which is closed at the end.
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

// closable gives the channel an input that ends when it is closed, though the
// client's may be silent and open.
func closable(in io.Reader, out io.WriteCloser) (io.Reader, io.WriteCloser) {
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(frames(w, in)) // nil is the end of the input
	}()
	return r, &closing{out, r}
}

type closing struct {
	io.WriteCloser
	in *io.PipeReader
}

// Close ends both directions.
func (c *closing) Close() error { return errors.Join(c.in.Close(), c.WriteCloser.Close()) }

// concurrency is how many requests are answered at once.
const concurrency = 4

// phase is how far the client has come.
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
	ctx      context.Context // ends with the client

	publishMu sync.Mutex // is taken before mu

	mu        sync.Mutex
	phase     phase
	inBytes   bool // positions count bytes
	snippets  bool
	base      string                  // the folder of the workspace
	buffers   map[string]*buffer      // by URI
	paths     map[string]*buffer      // the same by path
	disk      map[string]*saved       // files that are not open, as last read
	roots     map[string]*vetted      // files that are vetted, by path
	tools     map[string][]guard.Tool // of specs, by path, as they were last known
	dirty     []string                // those that are to be, the next one last
	published map[string]string       // what the client was last told of a URI
	running   string                  // the file that is being vetted; "" = none
	stop      context.CancelFunc      // ends that
	wake      chan struct{}
	searches  sync.WaitGroup // for specs that read an open file
}

func newServer(o Options, l *language.Language) *server {
	if o.Log == nil {
		o.Log = io.Discard
	}
	return &server{
		options: o, language: l, buffers: map[string]*buffer{}, paths: map[string]*buffer{}, disk: map[string]*saved{},
		roots: map[string]*vetted{}, tools: map[string][]guard.Tool{}, published: map[string]string{}, wake: make(chan struct{}, 1),
	}
}

// methods are what a client may call.
func (s *server) methods() handler.Map {
	return handler.Map{
		"initialize":                       on(s, "initialize", s.initialize),
		"initialized":                      on(s, "initialized", s.ignore),
		"shutdown":                         on(s, "shutdown", s.shutdown),
		"exit":                             on(s, "exit", s.exit),
		"$/cancelRequest":                  on(s, "$/cancelRequest", s.cancel),
		"$/setTrace":                       on(s, "$/setTrace", s.ignore),
		"workspace/didChangeConfiguration": on(s, "workspace/didChangeConfiguration", s.ignore),
		"workspace/didChangeWatchedFiles":  on(s, "workspace/didChangeWatchedFiles", s.saved),
		"textDocument/didOpen":             on(s, "textDocument/didOpen", s.didOpen),
		"textDocument/didChange":           on(s, "textDocument/didChange", s.didChange),
		"textDocument/didSave":             on(s, "textDocument/didSave", s.saved),
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

// notInitialized is the protocol's own code for what comes too early.
const notInitialized jrpc2.Code = -32002

// on makes a method of a function: its params are decoded, calls at the wrong
// time are refused, and a panic is an error that is logged.
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

// checkPhase refuses calls before initialize and after shutdown.
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
		s.base, _ = filepath.Abs(".") // without one, untitled documents have no folder
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

// cancel ends a request whose answer no one wants any more.
func (s *server) cancel(_ context.Context, p *struct {
	ID jsonID `json:"id"`
},
) (any, error) {
	s.rpc.CancelRequest(string(p.ID))
	return nil, nil
}

// jsonID is the id of a request as it was written, a number or a text.
type jsonID string

// UnmarshalJSON keeps the id as it is.
func (id *jsonID) UnmarshalJSON(b []byte) error { *id = jsonID(b); return nil }
