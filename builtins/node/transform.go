package node

import (
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
)

// TransformConfig configures a `type: transform` node.
type TransformConfig struct {
	Template component.PromptRef `yaml:"template" required:"true" vars:"parameters,steps,@node" doc:"Text of the result, with references to parameters and earlier results."`
	Filter   component.FilterRef `yaml:"filter" doc:"JSONPath to apply to the text, parsed as JSON."`
}

// Transform renders a text from parameters and results, without a model.
var Transform = component.New("transform", "Renders a text from parameters and earlier results, without a model.",
	func() TransformConfig { return TransformConfig{} },
	func(c *TransformConfig, s engine.NodeSettings) (engine.Node, error) { return &transform{c, s.ID}, nil })

type transform struct {
	cfg *TransformConfig
	id  string
}

var _ engine.Node = (*transform)(nil)

// Run renders the template and applies the filter, if any.
func (t *transform) Run(s engine.Scope) error {
	id := visitID(s, t.id)
	s = s.Child(id)
	rec, err := startStep(s, id, "transform")
	if err != nil {
		return err
	}
	text := strings.Join(t.cfg.Template.Render(currentValues(s, t.id).lookup), "")
	rec.Status, rec.Result = plan.OK, text
	if !t.cfg.Filter.IsZero() {
		if out, err := t.filtered(text); err != nil {
			rec.Status, rec.Result, rec.Error = plan.Failed, "", err.Error()
		} else {
			rec.Result = out
		}
	}
	recordResult(s, t.id, rec)
	return nil
}

func (t *transform) filtered(text string) (string, error) {
	v, err := reply.Decode([]byte(text))
	if err != nil {
		return "", err
	}
	found, err := t.cfg.Filter.Apply(v)
	if err != nil {
		return "", err
	}
	v = found
	if len(found) == 1 {
		v = found[0]
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	return string(jsonvalue.Encode(v)), nil
}
