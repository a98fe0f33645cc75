package node

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine"
)

const (
	listSchema = `{"type":"array","maxItems":100,"items":{"type":"string"}}`
	stepSchema = `{"type":"array","maxItems":100,"items":{"type":"object","properties":{"id":{"type":"string"},"goal":{"type":"string"},"tools":{"type":"array","items":{"type":"string"}},"success":{"type":"string"},"context":{"type":"string"},"args":{"type":"object"}},"required":["goal"]}}`
	dagSchema  = `{"type":"array","maxItems":100,"items":{"type":"object","properties":{"id":{"type":"string"},"goal":{"type":"string"},"depends_on":{"type":"array","items":{"type":"string"}},"tools":{"type":"array","items":{"type":"string"}},"success":{"type":"string"},"context":{"type":"string"},"args":{"type":"object"}},"required":["id","goal","depends_on"]}}`
)

// The schemas of replies, for providers that can be held to one.
var (
	planSchemas = map[string]*engine.ReplySchema{
		formatList:  replySchema(listSchema, `{"type":"string"}`),
		formatSteps: replySchema(stepSchema, `{"type":"string"}`),
		formatDag:   replySchema(dagSchema, `{"type":"string"}`),
	}
	stepsSchemas = map[string]string{formatList: listSchema, formatSteps: stepSchema, formatDag: dagSchema}
)

func replySchema(steps, result string) *engine.ReplySchema {
	return &engine.ReplySchema{Name: "plan", Schema: json.RawMessage(
		`{"type":"object","properties":{"steps":` + steps + `,"result":` + result + `},"required":["steps","result"],"additionalProperties":false}`)}
}

// planSchema is the schema of a planning reply; with an output schema the
// result may be the value itself, or "" while steps remain.
func planSchema(format string, out *engine.Output) *engine.ReplySchema {
	if out == nil || out.Schema.IsZero() {
		return planSchemas[format]
	}
	return replySchema(stepsSchemas[format], `{"type":["string","object","array","number","boolean","null"]}`)
}

// warnUnenforced warns of replies that do not match their schema where the server
// would enforce it by an option that the llm does not set.
func warnUnenforced(s engine.Scope, role, llm string) {
	m := s.View().Model(llm)
	if m == nil {
		return
	}
	enforcer, ok := m.Config.(engine.SchemaEnforcer)
	if !ok {
		return
	}
	if value := enforcer.EnforcingOutput(); value != "" {
		s.Record(engine.Warned{Text: fmt.Sprintf("llm %s (%s): set %s.options.structured_output: %s, so that the server makes replies match the schema",
			llm, role, m.Path, value)})
	}
}
