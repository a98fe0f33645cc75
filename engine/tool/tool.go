package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
)

// SessionKeeper is a Tool that stores a part of the session state through Call.Session.
// Planner and executor see what that part held when the run started.
type SessionKeeper interface {
	SessionPart() memory.SessionPart
}

// Effect is what calling a tool does to the outside world.
type Effect string

// The effects. An undeclared effect counts as a write.
const (
	ReadEffect       Effect = "read"       // changes nothing
	IdempotentEffect Effect = "idempotent" // may be repeated with the same key
	WriteEffect      Effect = "write"      // never repeated automatically
)

// Info is a tool's description of itself.
type Info struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of the arguments object
	Effect      Effect
}

// Tool is something a step can call. Call must be safe for concurrent use. Creating a
// Tool opens nothing: only Call opens files, processes and sockets.
type Tool interface {
	Info() Info
	// Call runs the tool with arguments that fit Info().Input. An error is a failure of
	// the tool, shown to the model, which must be able to act on it. It must be marked
	// with UnknownOutcome or Definite if the outcome of the call is not obvious. Call
	// must return when ctx ends.
	Call(ctx context.Context, call *Call) (*Output, error)
}

// HumanTool is a Tool whose result humans give. It is not called: each of its questions
// is journaled separately, so that the process may end meanwhile without leaving an
// effect open. A tool that works and asks in between uses Call.Ask.
type HumanTool interface {
	// NextQuestion returns the next question given the answers so far; with a nil question the
	// output is the result, and an error is a failure of the tool. It is called again on
	// every resume, so it must be deterministic and free of side effects.
	NextQuestion(args json.RawMessage, answers []interrupt.Decision) (*interrupt.Question, *Output, error)
}

// Call is a call of a tool.
type Call struct {
	Args     json.RawMessage // a JSON object
	Key      string          // idempotency key: run and effect path
	RunID    string
	Path     string       // effect path
	Context  *PlanContext // of a guided step; else nil
	Progress func(message string)
	// Ask asks a human during the call. If the tool does not write, this ends the call,
	// which is repeated with the answers so far; Ask then returns them in the same order,
	// so the questions must depend only on arguments and answers. A tool that writes
	// waits for a human who is present. After an error there is no answer, and the
	// call should return the error.
	Ask func(ctx context.Context, q interrupt.Question) (interrupt.Decision, error)
	// Sample calls the LLM that the tool may use (see Sampling); nil = none.
	Sample func(ctx context.Context, messages []model.Message, maxTokens int) (*model.Reply, error)
	// Embed makes embeddings with the LLM named in the tool's settings
	// (engine.CallBound.Vectors); nil = none. rest is the most bytes of text that the call will
	// send after these. If the budget has not paid for all of them, Embed ends the call,
	// which is repeated once that is done; a tool that stores embeddings thus pays only
	// for missing ones. After an error there are none, and the call should do without or
	// end.
	Embed func(ctx context.Context, texts []string, rest int) (vectors [][]float64, err error)
	// Redacted returns a definition as the run's journal stores it, for comparison with the
	// one passed to Bind. Nil = unchanged.
	Redacted func(Definition) Definition
	Session  CallSession      // session state of the conversation; nil = the run has no memory
	Lookup   component.Lookup // values of "args", "parameters" and "env" for the tool's own templates
	// Report receives the requests of a RemoteCaller once they are answered; nil = no one
	// observes the call.
	Report func(RemoteCall)
	// Files are the user's files as absolute paths by the names in prompts: tools that
	// read may read them wherever they are.
	Files map[string]string
}

// DefaultApprover is a tool's Config with a default approval ("always"), used unless the
// author wrote one.
type DefaultApprover interface {
	DefaultApproval() string
}

// HostBound is a tool's Config whose calls may need something that only one machine has: the
// files of a folder, a program.
type HostBound interface {
	// NeedsHost returns what the calls need, as the object of "it needs"; "" = nothing, so that
	// they have the same result on every machine.
	NeedsHost() string
}

// CallSession is the session state of a call's conversation.
type CallSession interface {
	Read(ctx context.Context) (memory.Session, error)
	Update(ctx context.Context, change func(*memory.Session) error) error
}

// Output is the output of a tool. Data, if set, is the output as JSON, and Text its
// readable form. Without Data, Text is the whole output.
type Output struct {
	Text string          `json:"text"`
	Data json.RawMessage `json:"data,omitempty"`
}

// Settings are the settings passed to a tool's factory.
type Settings struct {
	Name        string   // name in the spec
	Description string   // the author's description, or ""
	Dir         string   // the spec's folder: base of relative roots and commands
	Root        string   // project root: file roots must be below it
	Allow       []string // further folders, allowed by --allow-path
	// Private lists absolute folders and files that no file tool may access, whatever its root:
	// where runs, memory, tokens and environment variables are stored.
	Private []string
	// Protect is called before a tool writes a file, with its absolute path (links
	// resolved) and new content (nil = unknown). An error prevents the write: a later
	// run, test or command would execute the file. Nil = no file is protected.
	Protect   func(path string, content []byte) error
	Env       func(string) string // environment variables declared by the spec
	UserAgent string
	// Guard is called before a process is started, with a marker that is set in its
	// environment; the returned watch is called with the leader of its process group.
	// Both are killed if this process is killed, until release is called. May be nil.
	Guard func(mark string) (watch func(leader int) (release func()))
	// Enter is called with each absolute folder that a tool is about to work in; an error
	// denies access. May be nil.
	Enter func(dir string) error
	Now   func() time.Time // nil = time.Now
	// Offline forbids network access: a tool that needs it fails.
	Offline bool
	// NoPrograms forbids programs named by a spec or written by a model: a tool that
	// starts one fails.
	NoPrograms bool
	// Browse asks the user at the terminal to open a URL to sign in, without waiting. Nil
	// = no user.
	Browse func(ctx context.Context, address string) error
	// Tokens stores sign-in tokens; nil = not stored.
	Tokens TokenStore
	// Cache is a folder for recreatable data; it may not exist, and its content may
	// disappear. "" = no cache.
	Cache string
	// Embeds returns an identity of an LLM's embeddings, so that stored ones are not
	// mixed up. An error says why there are none; the identity is returned anyway. Calls
	// make them with Call.Embed. Nil = no LLM.
	Embeds func(llm string) (identity string, err error)
}

// TokenStore stores secrets such as tokens for later runs of the same user. Its content is
// never journaled. Names consist of letters, digits, dashes and dots.
type TokenStore interface {
	// Load returns what was saved under a name, or nil.
	Load(name string) ([]byte, error)
	Save(name string, secret []byte) error
}

// Errors of Call.Ask.
var (
	// ErrNoResponder reports that a question during a call has no answer because no human is
	// available.
	ErrNoResponder = errors.New("no one is available to answer")
	// ErrQuestionAsked ends a call that asked a question; the tool is called again with the
	// answer.
	ErrQuestionAsked = errors.New("the call continues once a human has answered")
)
