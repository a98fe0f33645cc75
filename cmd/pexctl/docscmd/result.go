package docscmd

import (
	"bytes"
	"reflect"

	"github.com/pexctl/pex/engine"
)

// ResultPage documents the object that run, resume and runs show print with -o json.
func ResultPage() []byte {
	var b bytes.Buffer
	b.WriteString(generatedMark + "# The result of a run\n\n" +
		"`pexctl run -o json`, `resume -o json` and `runs show -o json` print one object. New versions only add fields. " +
		"A field without a value is `\"\"`, `0`, `[]`, `{}` or `null`. `conversation` is omitted unless you pass `--include conversation`, and `labels` if the run has none.\n\n" +
		"- `response` is the answer as text, `output` its value under `output.schema`.\n" +
		"- `final_response` is the message with the answer. `text` is the answer, without the JSON that a planner wraps it in; " +
		"`id`, `model`, `stop_reason` and `usage` are those of the model's reply. It is `null` if no model wrote the answer.\n" +
		"- `tool_uses_in_final_turn` are the tool calls of the last turn with tool calls, with the `id` from the model.\n" +
		"- `conversation` has the messages in order: each system prompt once, the requests to the models and their replies. " +
		"`path` names the node or step. The message of a model has its `id`, `model`, `stop_reason` and `usage`.\n" +
		"- `messages` are the messages that users sent to the run (`pexctl runs message`), oldest first. `seen` is false if no model was sent the message. " +
		"It is omitted if there are none, as is `decisions`.\n" +
		"- `stop_reason.path` is the key of the spec that ended the run: a limit, a guard, or a tool, an approval or a model. It is empty for `answered`, " +
		"`suspended` and `cancelled`. For the codes, see [exit-codes.md](exit-codes.md).\n" +
		"\n## Fields\n\n| field | value |\n| --- | --- |\n")
	fieldRows(&b, "", reflect.TypeFor[engine.Result](), "json")
	return b.Bytes()
}
