package node

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
)

// RouterConfig configures a `type: router` node.
type RouterConfig struct {
	LLM           component.ModelRef  `yaml:"llm" for:"prompt" doc:"LLM that chooses. Default: the planner's."`
	Prompt        component.PromptRef `yaml:"prompt" vars:"parameters,steps,@node" doc:"Prompt of the choice. Without it, only the conditions of the edges decide."`
	Choices       []string            `yaml:"choices" doc:"The choices. Edges read the chosen one as reply.text."`
	Default       string              `yaml:"default" doc:"Choice if the confidence is too low or the reply is invalid. Default: the first."`
	MinConfidence float64             `yaml:"min_confidence" min:"0" max:"1" doc:"Minimum confidence for a choice other than the default."`
}

// Router chooses the next node.
var Router = component.New("router", "Chooses the next node by the conditions of its edges, or by asking a model.",
	func() RouterConfig { return RouterConfig{} },
	func(c *RouterConfig, s engine.NodeSettings) (engine.Node, error) { return &router{c, s.ID}, nil })

type router struct {
	cfg *RouterConfig
	id  string
}

var (
	_ engine.Node      = (*router)(nil)
	_ engine.Prompter  = (*router)(nil)
	_ engine.Requester = (*router)(nil)
)

// Run asks the model for a choice, if there is a prompt.
func (x *router) Run(s engine.Scope) error {
	if x.cfg.Prompt.IsZero() {
		return nil
	}
	s = s.Child(s.Nth(x.id))
	call := x.Call(s.View())
	r, err := s.Model("model", call)
	if err != nil {
		return err
	}
	recordExchange(s, call.Messages, r)
	choice, why := x.choose(r.Text)
	if why != "" {
		s.Record(engine.WarningAdded{Text: "router " + x.id + ": " + why + "; continuing with " + choice})
	}
	s.Record(engine.NodeReplied{By: x.id, Reply: exprenv.Reply{Text: choice}, RoutesOnly: true})
	return nil
}

// choose parses the model's choice. If it falls back to the default, why is the reason.
func (x *router) choose(text string) (choice, why string) {
	fallback := x.cfg.Default
	if fallback == "" && len(x.cfg.Choices) > 0 {
		fallback = x.cfg.Choices[0]
	}
	var got struct {
		Choice     string   `json:"choice"`
		Confidence *float64 `json:"confidence"`
	}
	if i := x.choiceIndex(text); i >= 0 {
		return x.cfg.Choices[i], ""
	}
	value, _, code := reply.JSON(text, reply.Options{})
	if code != "" || json.Unmarshal(value, &got) != nil {
		return fallback, "the choice is invalid"
	}
	i := slices.IndexFunc(x.cfg.Choices, func(c string) bool { return strings.EqualFold(c, strings.TrimSpace(got.Choice)) })
	if i < 0 {
		return fallback, "unknown choice " + got.Choice
	}
	if got.Confidence != nil && *got.Confidence < x.cfg.MinConfidence {
		return fallback, ""
	}
	return x.cfg.Choices[i], ""
}

// named returns the index of the choice that the reply consists of, or -1.
func (x *router) choiceIndex(text string) int {
	word := strings.Trim(text, " \t\r\n\"'`*.")
	return slices.IndexFunc(x.cfg.Choices, func(c string) bool { return strings.EqualFold(c, word) })
}

// Call returns the call that the router would make now.
func (x *router) Call(v engine.View) model.Call {
	return model.Call{Role: "judge", LLM: x.cfg.LLM.Name, Messages: x.Prompt(v), Schema: choiceSchema}
}

// Prompt returns the messages that the router would send now.
func (x *router) Prompt(v engine.View) []model.Message {
	system := model.Text{routerPrompt}
	for _, c := range x.cfg.Choices {
		system = append(system, "- "+c+"\n")
	}
	return []model.Message{
		{Role: model.System, Text: system},
		{Role: model.User, Text: model.Text(x.cfg.Prompt.Render(valuesOf(&v, x.id).lookup))},
	}
}

var choiceSchema = &model.ReplySchema{Name: "choice", Schema: json.RawMessage(
	`{"type":"object","properties":{"choice":{"type":"string"},"confidence":{"type":"number"},"reason":{"type":"string"}},"required":["choice","confidence","reason"],"additionalProperties":false}`)}
