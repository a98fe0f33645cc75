package mcp

import (
	"maps"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
)

// Config configures the mcp tool.
type Config struct {
	Command component.Value      `yaml:"command" path:"program" vars:"parameters,env" doc:"Command that starts the server, such as [npx, -y, some-server], without a shell. If it is only a program, put its arguments under args."`
	Args    []component.Template `yaml:"args" vars:"parameters,env" doc:"Arguments of command, if that is only a program."`
	Cwd     string               `yaml:"cwd" path:"relative" doc:"Working directory of the server, relative to this file. Default: the spec's folder."`

	Env map[string]component.Template `yaml:"env" vars:"parameters,env" doc:"Environment variables of the server, in addition to PATH, HOME, LANG and TMPDIR. Other variables are not passed on. A variable with an unset reference is omitted."`

	URL          component.Template            `yaml:"url" vars:"parameters,env" doc:"URL of a running server, such as https://host/mcp. The host may only use ${env.X}."`
	Headers      map[string]component.Template `yaml:"headers" vars:"parameters,env" doc:"Headers sent to url, such as Authorization: Bearer ${env.TOKEN}. A header with an unset reference is not sent."`
	Auth         *Auth                         `yaml:"auth" doc:"Authentication for url, if headers do not provide it."`
	AllowHosts   []string                      `yaml:"allow_hosts" doc:"Hosts that redirects may lead to, in addition to the host of url: host or host:port, with wildcards such as *.example.org. Headers are not sent to them."`
	AllowPrivate bool                          `yaml:"allow_private" doc:"Whether the hosts may have private addresses. An IP address or localhost in url is always allowed."`

	Include   []string            `yaml:"include" doc:"Tools to make available, by server name or glob. Default: all."`
	Exclude   []string            `yaml:"exclude" doc:"Tools to exclude, by server name or glob."`
	Overrides map[string]Override `yaml:"overrides" doc:"Settings of single tools, by server name."`
	Prompts   []string            `yaml:"prompts" doc:"Prompts of the server to offer as tools that return their text, by name or glob; [\"*\"] for all. Default: none."`
	Resources bool                `yaml:"resources" doc:"Whether to add tools that list and read the server's resources."`

	Roots       []string `yaml:"roots" path:"relative" doc:"Folders that the server may work in (MCP roots), relative to this file and inside the project. Many servers use them instead of folders in their arguments. Default: none."`
	Elicitation bool     `yaml:"elicitation" doc:"Whether the server may ask the user during a call (elicitation)."`
	Sampling    *Sample  `yaml:"sampling" doc:"Lets the server call an llm of this spec during a call (sampling)."`

	StartTimeout    time.Duration `yaml:"start_timeout" min:"1ms" doc:"Maximum time until the server has listed its tools."`
	MaxMessageBytes int           `yaml:"max_message_bytes" min:"1024" max:"268435456" doc:"Maximum size of a server message in bytes. A longer message closes the connection."`
}

// Override overrides one tool of a server.
type Override struct {
	Description string                     `yaml:"description" doc:"Replaces the description from the server."`
	Effect      string                     `yaml:"effect" enum:"read|idempotent|write" doc:"Side effect of the tool. Default: that of the entry, unless the server declares a stronger one; otherwise write."`
	Approval    component.GuardRef         `yaml:"approval" words:"never|always" env:"@approval" doc:"When a call needs approval: never, always, or an expression."`
	Approvers   component.GuardRef         `yaml:"approvers" env:"@approvers" doc:"Who may approve a call, as for the entry, whose expression it replaces."`
	FourEyes    bool                       `yaml:"four_eyes" doc:"Whether someone who neither started nor changed the run must approve. An entry with four_eyes requires it for all its tools."`
	OnUnknown   string                     `yaml:"on_unknown" enum:"review|continue" doc:"What to do if the outcome of a write call is unknown. Default: that of the entry."`
	With        map[string]component.Value `yaml:"with" vars:"parameters" doc:"Fixed argument values. The model cannot override them."`
}

// Sample configures which LLM a server may use, and how much.
type Sample struct {
	LLM       component.ModelRef `yaml:"llm" doc:"Name of the llm that the server may call; llm keys next to it override its settings. Default: the only llm."`
	MaxCalls  int                `yaml:"max_calls" min:"1" doc:"Maximum number of llm calls per tool call. Default: 5."`
	MaxTokens int                `yaml:"max_tokens" min:"64" doc:"Maximum tokens per llm call, input and output together. Default: 4096."`
}

const (
	sampleCalls  = 5
	sampleTokens = 4096
)

// MCP is the factory of the mcp tool.
var MCP = component.New("mcp", "Tools of a Model Context Protocol (MCP) server: a program to start, or a URL.",
	func() Config {
		return Config{Elicitation: true, StartTimeout: 30 * time.Second, MaxMessageBytes: 16 << 20}
	}, newServer)

// rules returns the author's settings for the tools, in a fixed order.
func (c *Config) rules() tool.Rules {
	r := tool.Rules{Include: c.Include, Exclude: c.Exclude}
	for _, name := range slices.Sorted(maps.Keys(c.Overrides)) {
		o := c.Overrides[name]
		over := tool.Override{Name: name, Description: o.Description, Effect: tool.Effect(o.Effect), Approval: o.Approval, OnUnknown: tool.OnUnknown(o.OnUnknown), Rule: interrupt.Rule{Approvers: o.Approvers, FourEyes: o.FourEyes}}
		for _, arg := range slices.Sorted(maps.Keys(o.With)) {
			over.With = append(over.With, tool.Fixed{Name: arg, Value: o.With[arg]})
		}
		r.Overrides = append(r.Overrides, over)
	}
	if s := c.Sampling; s != nil {
		r.Sampling = tool.Sampling{LLM: s.LLM.Name, MaxCalls: positive(s.MaxCalls, sampleCalls), MaxTokens: positive(s.MaxTokens, sampleTokens)}
	}
	return r
}

// WorstCase implements engine.BoundedTool: the sampling requests that the server may make. Each answer of a human
// allows them again.
func (c *Config) WorstCase() []engine.CallBound {
	parts := 1
	if c.Elicitation {
		parts = engine.MaxParts
	}
	return engine.SamplingBounds(c.rules().Sampling, parts)
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

var _ tool.AccessDescriber = (*Config)(nil)

// NeedsHost implements tool.HostBound: the program of a server that is started, and folders of any.
func (c *Config) NeedsHost() string {
	switch {
	case !c.Command.IsZero():
		if argv, _, ok := c.program(); ok && len(argv) > 0 {
			return "the program " + argv[0]
		}
		return "the program of its server"
	case len(c.Roots) > 0:
		return tool.FilesBelow(c.Roots[0])
	}
	return ""
}

// Access implements tool.AccessDescriber.
func (c *Config) Access() (out []string) {
	if !c.Command.IsZero() {
		argv, _, ok := c.program()
		if !ok {
			argv = []string{string(c.Command.JSON)} // such a server cannot start
		}
		for _, arg := range c.Args {
			argv = append(argv, arg.Text)
		}
		out = append(out, tool.Execs(argv, c.Cwd, c.Env))
	}
	if c.URL.Text != "" {
		out = append(out, tool.Connects(c.URL, c.AllowHosts)...)
	}
	if c.Auth != nil && c.Auth.Issuer != "" {
		out = append(out, tool.Connects(component.Template{Text: c.Auth.Issuer}, nil)...)
	}
	return out
}
