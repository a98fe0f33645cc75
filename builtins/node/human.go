package node

import (
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/plan"
)

// HumanConfig configures a `type: human` node.
type HumanConfig struct {
	Question  component.PromptRef `yaml:"question" required:"true" fork:"fixed" vars:"parameters,steps,@node" doc:"Question for the human."`
	Approvers component.GuardRef  `yaml:"approvers" env:"@plan_approvers" doc:"Who may answer, except deny: an expression over by (subject, issuer, roles, tenant) and run.by. Default: anyone who may answer."`
	FourEyes  bool                `yaml:"four_eyes" doc:"Whether someone who neither started nor changed the run must answer."`
}

// Human asks a human and waits for the answer.
var Human = component.New("human", "Asks a human and waits for the answer without a time limit. A denial at the end of the graph cancels the run.",
	func() HumanConfig { return HumanConfig{} },
	func(c *HumanConfig, s engine.NodeSettings) (engine.Node, error) { return &human{c, s.ID}, nil })

type human struct {
	cfg *HumanConfig
	id  string
}

var _ engine.Node = (*human)(nil)

// rule returns who may answer.
func (h *human) rule() interrupt.Rule {
	return interrupt.Rule{Approvers: h.cfg.Approvers, FourEyes: h.cfg.FourEyes}
}

// deny is the node's result when the human denies.
const deny = "deny"

// Run asks the question. The node's result is approve, deny, or the text of the answer.
func (h *human) Run(s engine.Scope) error {
	id := visitID(s, h.id)
	s = s.Child(id)
	question := strings.Join(h.cfg.Question.Render(currentValues(s, h.id).lookup), "")
	rec, err := startStep(s, id, question)
	if err != nil {
		return err
	}
	d, err := s.Ask("ask", interrupt.Question{Kind: interrupt.Human, Question: question}.Restrict(h.rule()))
	if err != nil {
		return err
	}
	rec.Status, rec.Result = plan.OK, d.Do
	switch d.Do {
	case "text":
		rec.Result = d.Text
	case "edit":
		rec.Result = string(d.Edit)
	case deny:
		rec.Error = d.Reason
	}
	recordResult(s, h.id, rec)
	return nil
}
