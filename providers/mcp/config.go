package mcp

import (
	"maps"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// Config configures the mcp tool.
type Config struct {
	Command component.Value      `yaml:"command" path:"program" vars:"parameters,env" doc:"Program and arguments that start the server, such as [npx, -y, some-server]; no shell is in between. A program alone may have its arguments under args."`
	Args    []component.Template `yaml:"args" vars:"parameters,env" doc:"Arguments behind command, where that is a program alone."`
	Cwd     string               `yaml:"cwd" path:"relative" doc:"Folder that the server runs in; relative to the file that names it. Default: the spec's folder."`

	Env map[string]component.Template `yaml:"env" vars:"parameters,env" doc:"Environment variables of the server on top of PATH, HOME, LANG and TMPDIR; nothing else of the machine's environment is passed on. One whose references are unset is left out."`

	URL          component.Template            `yaml:"url" vars:"parameters,env" doc:"Address of a server that is there already, such as https://host/mcp. Only ${env.X} may stand where the host is."`
	Headers      map[string]component.Template `yaml:"headers" vars:"parameters,env" doc:"Headers sent to url, such as Authorization: Bearer ${env.TOKEN}. One whose references are unset is not sent."`
	Auth         *Auth                         `yaml:"auth" doc:"How url is told on whose behalf it is called, where headers do not say it."`
	AllowHosts   []string                      `yaml:"allow_hosts" doc:"Hosts that redirects may lead to, beside that of url: host or host:port, with * as in *.example.org. They are sent no headers."`
	AllowPrivate bool                          `yaml:"allow_private" doc:"The hosts may lie in a private network. An address or localhost in url may without this."`

	Include   []string            `yaml:"include" doc:"Tools that a run may see, by the server's names or globs. Default: all."`
	Exclude   []string            `yaml:"exclude" doc:"Tools that are left out again, likewise."`
	Overrides map[string]Override `yaml:"overrides" doc:"What you know better about single tools, by the server's names."`
	Prompts   []string            `yaml:"prompts" doc:"Prompts of the server that become tools which give their text, by name or glob: [\"*\"] for all. Default: none."`
	Resources bool                `yaml:"resources" doc:"Makes tools that list and read the server's resources."`

	Roots       []string `yaml:"roots" path:"relative" doc:"Folders that the server is told it may work in; relative to the file that names it and within the project. Many servers take them instead of the folders of their arguments. Default: none."`
	Elicitation bool     `yaml:"elicitation" doc:"The server may ask a person in the middle of a call."`
	Sampling    *Sample  `yaml:"sampling" doc:"Lets the server ask an llm of this spec in the middle of a call."`

	StartTimeout    time.Duration `yaml:"start_timeout" min:"1ms" doc:"How long the server may take until it has told its tools."`
	MaxMessageBytes int           `yaml:"max_message_bytes" min:"1024" max:"268435456" doc:"The longest message of the server that is read; a longer one ends the connection."`
}

// Override overrides one tool of a server.
type Override struct {
	Description string                     `yaml:"description" doc:"Replaces the server's."`
	Effect      string                     `yaml:"effect" enum:"read|idempotent|write" doc:"What calling it does. Default: that of the entry, unless the server admits to more; else write."`
	Approval    component.GuardRef         `yaml:"approval" words:"never|always" env:"@approval" doc:"Whether a person approves each call: never, always, or an expression."`
	OnUnknown   string                     `yaml:"on_unknown" enum:"review|continue" doc:"What a run does when a call that writes began and its outcome is unknown. Default: that of the entry."`
	With        map[string]component.Value `yaml:"with" vars:"parameters" doc:"Argument values that you fix and a model can never override."`
}

// Sample configures which LLM a server may use, and how much.
type Sample struct {
	LLM       component.ModelRef `yaml:"llm" doc:"The llm that it may ask, by name; llm keys beside it go over its own. The only one by default."`
	MaxCalls  int                `yaml:"max_calls" min:"1" doc:"How often, in one call of a tool. Default: 5."`
	MaxTokens int                `yaml:"max_tokens" min:"64" doc:"Tokens of one of them, input and output together. Default: 4096."`
}

const (
	sampleCalls  = 5
	sampleTokens = 4096
)

// MCP is the factory of the mcp tool.
var MCP = component.New("mcp", "Tools of a server that speaks the Model Context Protocol: a program that is started, or one at an address.",
	func() Config {
		return Config{Elicitation: true, StartTimeout: 30 * time.Second, MaxMessageBytes: 16 << 20}
	}, newServer)

// rules returns the author's settings for the tools, in a fixed order.
func (c *Config) rules() tool.Rules {
	r := tool.Rules{Include: c.Include, Exclude: c.Exclude}
	for _, name := range slices.Sorted(maps.Keys(c.Overrides)) {
		o := c.Overrides[name]
		over := tool.Override{Name: name, Description: o.Description, Effect: tool.Effect(o.Effect), Approval: o.Approval, OnUnknown: tool.OnUnknown(o.OnUnknown)}
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

// Asks implements engine.BoundedTool: the samples that the server may request, again
// after each answer of a human.
func (c *Config) Asks() []engine.Ask {
	parts := 1
	if c.Elicitation {
		parts = engine.MaxParts
	}
	return engine.SamplingAsks(c.rules().Sampling, parts)
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

var _ tool.AccessDescriber = (*Config)(nil)

// Reaches implements tool.AccessDescriber.
func (c *Config) Reaches() (out []string) {
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
