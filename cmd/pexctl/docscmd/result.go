package docscmd

import (
	"bytes"
	"reflect"

	"github.com/pexctl/pex/engine"
)

// ResultPage documents the object that run, resume and runs show print with -o json.
func ResultPage() []byte {
	var b bytes.Buffer
	b.WriteString(made + "# The result of a run\n\n" +
		"`pexctl run -o json`, `resume -o json` and `runs show -o json` print one object. Fields are only ever added. " +
		"A field without a value is `\"\"`, `0`, `[]`, `{}` or `null`; `conversation` is left out unless `--include conversation` asks for it.\n\n" +
		"- `response` is the answer as text, `output` its value under `output.schema`.\n" +
		"- `final_response` is the message that gave the answer: its `text` is the answer, without the JSON that a planner wraps it in; " +
		"`id`, `model`, `stop_reason` and `usage` are those of the model's reply. It is `null` where no model wrote the answer.\n" +
		"- `tool_uses_in_final_turn` are the tool calls of the last turn that called tools, with the `id` that the model gave each call.\n" +
		"- `conversation` has the messages in the order of the run: each system prompt once, what the models were sent and what they replied. " +
		"`path` names the node or step. A message of a model has its `id`, `model`, `stop_reason` and `usage`.\n" +
		"- `stop_reason.path` is the key of the spec that ended the run, or whose tool, approval or model the run ended at. It is empty for `answered`, " +
		"and for `suspended` and `cancelled`, which come from outside the spec. Codes: [exit-codes.md](exit-codes.md).\n" +
		"\n## Fields\n\n| field | value |\n| --- | --- |\n")
	fieldRows(&b, "", reflect.TypeFor[engine.Result](), "json")
	return b.Bytes()
}
