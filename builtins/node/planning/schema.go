package planning

import (
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

const (
	listSchema = `{"type":"array","maxItems":100,"items":{"type":"string"}}`
	stepSchema = `{"type":"array","maxItems":100,"items":{"type":"object","properties":{"id":{"type":"string"},"goal":{"type":"string"},"tools":{"type":"array","items":{"type":"string"}},"success":{"type":"string"},"context":{"type":"string"},"args":{"type":"object"}},"required":["goal"]}}`
	dagSchema  = `{"type":"array","maxItems":100,"items":{"type":"object","properties":{"id":{"type":"string"},"goal":{"type":"string"},"depends_on":{"type":"array","items":{"type":"string"}},"tools":{"type":"array","items":{"type":"string"}},"success":{"type":"string"},"context":{"type":"string"},"args":{"type":"object"}},"required":["id","goal","depends_on"]}}`
)

// JSON schemas of replies, for providers with structured output.
var (
	planSchemas = map[string]*model.ReplySchema{
		FormatList:  replySchema(listSchema, `{"type":"string"}`),
		FormatSteps: replySchema(stepSchema, `{"type":"string"}`),
		FormatDag:   replySchema(dagSchema, `{"type":"string"}`),
	}
	stepsSchemas = map[string]string{FormatList: listSchema, FormatSteps: stepSchema, FormatDag: dagSchema}
)

func replySchema(steps, result string) *model.ReplySchema {
	return &model.ReplySchema{Name: "plan", Schema: json.RawMessage(
		`{"type":"object","properties":{"steps":` + steps + `,"result":` + result + `},"required":["steps","result"],"additionalProperties":false}`)}
}

// Schema returns the schema of a planning reply. With an output schema, the result may be
// the value itself, or "" while steps remain.
func Schema(format string, out *engine.Output) *model.ReplySchema {
	if out == nil || out.Schema.IsZero() {
		return planSchemas[format]
	}
	return replySchema(stepsSchemas[format], `{"type":["string","object","array","number","boolean","null"]}`)
}
