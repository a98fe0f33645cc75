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

// SessionKeeper is a capability of a Tool: it keeps a part of the session through
// Call.Session. The planner and the executor of a run that has the tool are
// shown what that part held when the run began.
type SessionKeeper interface {
	Keeps() memory.SessionPart
}

// Effect says what calling a tool does to the world.
type Effect string

// The effects. A tool that does not say is taken for Write.
const (
	ReadEffect       Effect = "read"       // changes nothing
	IdempotentEffect Effect = "idempotent" // may run again with the same key
	WriteEffect      Effect = "write"      // never repeated by itself
)

// Info is what a tool says about itself.
type Info struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of the arguments, an object
	Effect      Effect
}

// Tool is something a step can call. Call is used from many goroutines at once.
// Making a Tool opens nothing: files, processes and sockets are opened by Call.
type Tool interface {
	Info() Info
	// Call runs the tool with arguments that fit Info().Input. An error is the
	// tool's failure, shown to the model as data; it must read as a sentence
	// the model can act on, and carry the mark of UnknownOutcome or Definite
	// where what became of the call is not plain. A tool that outlives ctx is a
	// defect.
	Call(ctx context.Context, call *Call) (*Output, error)
}

// HumanTool is a capability of a Tool whose result people give. It is not called:
// its questions are asked one by one, each as a question of its own in the
// journal, so that the process may end meanwhile and no effect is left open.
// A tool that does work of its own and asks in the middle of it uses Call.Ask.
type HumanTool interface {
	// Consult says what is to be asked next, given the answers so far; with a
	// nil question the output is the result, and an error is the tool's
	// failure. It runs again on every resume: it touches nothing, and gives
	// the same for the same arguments and answers.
	Consult(args json.RawMessage, answers []interrupt.Decision) (*interrupt.Question, *Output, error)
}

// Call is one call of a tool.
type Call struct {
	Args     json.RawMessage // a JSON object
	Key      string          // idempotency key: run and effect path
	RunID    string
	Path     string       // effect path
	Context  *PlanContext // of a guided step; else nil
	Progress func(message string)
	// Ask puts a question to a person in the middle of the call. A tool that
	// does not write is ended by it, and called again with the answers so far,
	// which Ask then gives in the same order: so it asks the same questions for
	// the same arguments and answers. One that writes waits for whoever is there.
	// An error says that there is no answer; the call had better end with it.
	Ask func(ctx context.Context, q interrupt.Question) (interrupt.Decision, error)
	// Sample asks the llm that the tool may use (see Sampling); nil = none.
	Sample func(ctx context.Context, messages []model.Message, maxTokens int) (*model.Reply, error)
	// Embed has the llm that the tool's settings name for it (Ask.Vectors) make
	// vectors of texts; nil = they name none. rest is how many bytes of text the
	// call is going to send after these, at most. Where a budget has not paid for
	// all of them, it ends the call, which is made again once that is done: so a
	// tool that keeps vectors is paid for those alone that it still lacks. An
	// error says that there are none; the call had better do without, or end.
	Embed func(ctx context.Context, texts []string, rest int) (vectors [][]float64, err error)
	// Kept is a definition as the run's journal has it: one that Bind was given
	// is compared with it. Nil = as it is.
	Kept    func(Definition) Definition
	Session CallSession      // what the conversation keeps between runs; nil = the run has no memory
	Lookup  component.Lookup // values of "args", "parameters" and "env" for the tool's own templates
	// Files are the files that the user gave the run, absolute, by the names that
	// its prompts show: a tool that reads may read them wherever they lie.
	Files map[string]string
}

// DefaultApprover is a capability of a tool's Config: calls of the tool are approved as
// it says ("always") unless the author wrote an approval.
type DefaultApprover interface {
	DefaultApproval() string
}

// CallSession is the session of the conversation that a call belongs to.
type CallSession interface {
	Read(ctx context.Context) (memory.Session, error)
	Update(ctx context.Context, change func(*memory.Session) error) error
}

// Output is what a tool gave. Data, if set, is the output as JSON and Text
// its readable form; else Text is all there is.
type Output struct {
	Text string          `json:"text"`
	Data json.RawMessage `json:"data,omitempty"`
}

// Settings is what our code passes to a tool's factory.
type Settings struct {
	Name        string   // the tool's name in the spec
	Description string   // the author's description, or ""
	Dir         string   // folder of the spec: relative roots and commands start here
	Root        string   // project root: file roots stay below it
	Allow       []string // further folders that --allow-path opened
	// Private lists folders, absolute, that no file tool reads or writes whatever
	// its root: where runs, memory and tokens are stored.
	Private []string
	// Protect is called before a tool writes a file, with its absolute path, links
	// resolved, and its new content (nil = unknown). An error keeps the file as it
	// is: a later run, a test or a command would execute it. Nil = no file is.
	Protect   func(path string, content []byte) error
	Env       func(string) string // the machine's environment, for names the spec declares
	UserAgent string
	// Guard is called before a process is started, with a mark that stands in
	// its environment; what it returns is told the leader of its group. Both
	// are ended if this process is killed, until release is called. Nil =
	// nobody does.
	Guard func(mark string) (watch func(leader int) (release func()))
	// Enter is called with each folder, absolute, that a tool is about to work
	// in; an error keeps it out. Nil = nobody wants to know.
	Enter func(dir string) error
	Now   func() time.Time // nil = time.Now
	// Offline forbids the network: a tool that needs it gives an error that the
	// cause sees.
	Offline bool
	// NoPrograms forbids programs that a spec names or a model writes: a tool that
	// starts one gives an error that the model sees.
	NoPrograms bool
	// Browse asks whoever is at the terminal to open an address, to sign in
	// there; it does not wait for that. Nil = nobody is there.
	Browse func(ctx context.Context, address string) error
	// Vault keeps what signing in gave; nil = nothing is kept.
	Vault Vault
	// Cache is a folder of ours for what can be made anew; it may not exist yet,
	// and anything may be missing from it. "" = keep nothing.
	Cache string
	// Embeds says what the vectors of an llm of the spec depend on, so that kept
	// ones are not taken for another's. An error says why it makes none; the
	// identity is given all the same. Calls have them made by Call.Embed. Nil =
	// there is no llm.
	Embeds func(llm string) (identity string, err error)
}

// Vault keeps secrets that a tool was given, such as tokens, for later runs of
// the same user. What it holds stands in no journal. Names are of letters,
// digits, dashes and dots.
type Vault interface {
	// Load gives what was saved under a name, nil if nothing was.
	Load(name string) ([]byte, error)
	Save(name string, secret []byte) error
}

// Errors of Call.Ask.
var (
	// ErrNobody says that a question in the middle of a call has no answer: no one
	// is there.
	ErrNobody = errors.New("nobody is there to answer")
	// ErrAsking ends a call whose question is put to a person: the tool is called
	// again with the answer.
	ErrAsking = errors.New("the call goes on once a person has answered")
)
