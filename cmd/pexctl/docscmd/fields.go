package docscmd

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
)

// EventDocs documents each event type, in the order of a run. A test compares it
// with the existing types.
var EventDocs = []struct {
	Type  engine.EventType
	About string
}{
	{engine.RunStarted, "The run has started: `spec`, `question`."},
	{engine.PlanCreated, "A new plan is in effect, the first or a replacement: `plan`, `by`."},
	{engine.StepStartedEvent, "A step starts or is retried: `step`."},
	{engine.ModelStarted, "A model call starts: `model`, `role`, `provider`, `request_model`, and `step` inside a step."},
	{engine.ModelDelta, "A part of a streamed reply: `text`. Transient."},
	{engine.ModelRetrying, "A model call failed and is retried after a delay: `model`, `role`, `retry`. Transient."},
	{engine.ModelCompleted, "A model call has ended: `message` (text and tool calls of the reply), `usage`, `cost_usd`, `status` (why the model stopped), `duration_ms`, `latency_ms`, `response_model`, `response_id`, `attempts` if more than one and, for a streamed reply, `first_token_ms`. A call that failed has the `status` `failed`, or `interrupted` if a message of the user ended it, and `error` instead of `message`."},
	{engine.ToolStarted, "A tool call starts: `tool`, `call_id`, `effect`, `server`, `args`, `step` (id and goal)."},
	{engine.ToolProgress, "A tool reports progress: `text`. Transient."},
	{engine.ToolRetrying, "A tool call failed and is retried after a delay: `tool`, `retry`. Transient."},
	{engine.ToolCompleted, "A tool call has ended: `status`, `text` (result or error), `duration_ms`. A rejected call has no start event."},
	{engine.ToolInterrupted, "A tool call waits for a human: `tool`, `args`."},
	{engine.StepCompleted, "A step has ended: `step` with status, result and error, `usage`, `latency_ms`, `first_token_ms`."},
	{engine.ReflectCompleted, "The reflector has replied: `text` is its result, if any."},
	{engine.GuardFired, "A guard fired: `guard`."},
	{engine.LimitReached, "A limit stops the run: `stop_reason`. The answer of the finalizer follows."},
	{engine.InterruptRaised, "A question to a human is open: `interrupt`."},
	{engine.MessageReceivedEvent, "A user sent a message to the run: `id`, `text`, `by`, and the `status` `interrupt` if it ended the model calls under way. `at` is the active time at which it arrived."},
	{engine.RunSuspended, "The process exits before the run has ended: `status`, `stop_reason`. Transient. `resume` continues the run."},
	{engine.RunCompleted, "The run has ended: `status`, `stop_reason`, `text` (the answer), `totals`."},
	{engine.Warning, "A repair was applied, or something looks wrong: `text`."},
}

// EventsPage returns the reference page of events, in Markdown.
func EventsPage() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s# Events\n\n`pexctl run spec.yaml --events events.jsonl` writes one JSON object per line (`-` for stdout). "+
		"This is version %d of the schema (`v`). New versions only add fields. Fields without a value are omitted.\n\n"+
		"Events are sent in order, after the journal record is on disk. `seq` counts them from 1 across all sessions of the run: "+
		"`resume` continues the numbering, and `runs show --follow` shows the original numbers. After a crash, the last events may be sent again with the same numbers. "+
		"Transient events have `seq` 0 and always follow the event that started their call.\n\n"+
		"If `resume` raises the limit that stopped a run, the events of that end are void and their numbers are used again. "+
		"`rewinds` counts these raises: an event replaces those with the same or a higher `seq` and fewer `rewinds`.\n\n"+
		"`at` is the same in every session, replay and process, since it is computed from the journal: the start of the run plus the time during which it was active, and the pauses before decisions by humans. "+
		"The journal does not have the duration of other pauses, such as a crash, so later events lag by them until the next decision. Transient events have the time of the system clock.\n\n"+
		"## Types\n\n| type | meaning and fields |\n| --- | --- |\n", generatedMark, engine.EventVersion)
	for _, e := range EventDocs {
		fmt.Fprintf(&b, "| `%s` | %s |\n", e.Type, e.About)
	}
	b.WriteString("\n## Fields\n\n| field | value |\n| --- | --- |\n")
	fieldRows(&b, "", reflect.TypeFor[engine.Event](), "json")
	return b.Bytes()
}

// roots are the names in expressions whose fields are structs.
var roots = []struct {
	name  string
	value any
}{
	{"run", exprenv.Run{}},
	{"plan", exprenv.Plan{}},
	{"step", exprenv.Step{}},
	{"tool", exprenv.Tool{}},
	{"reply", exprenv.Reply{}},
	{"by", exprenv.Actor{}},
	{"memory", exprenv.Memory{}},
	{"trace", exprenv.Trace{}},
	{"stats", exprenv.Stats{}},
}

// caseEnv is the type of `case` in gates for each case; elsewhere case is a row.
var caseEnv = reflect.TypeFor[exprenv.Case]()

// Places documents where each environment of expressions is used.
var Places = map[string]string{
	"after_plan": "`guards[].when` at after_plan", "before_tool": "`guards[].when` at before_tool",
	"after_tool": "`guards[].when` at after_tool", "after_step": "`guards[].when` at after_step",
	"after_reflect": "`guards[].when` at after_reflect", "edge": "`graph.edges[].when`",
	"approval": "`tools.<name>.approval`", "plan_approval": "`planner.approval`",
	"approvers": "`tools.<name>.approvers`, `guards[].approvers` at before_tool", "plan_approvers": "`approvers` elsewhere", "verify": "`executor.verify`",
	"reflector_when": "`reflector.when`", "ensures": "`output.ensures`", "compaction": "`memory.compaction.<rule>.when`",
	"tests": "`tests[].expect`", "checks": "the checks of a Suite", "gates": "the gates of a Suite",
	"gates_each": "`gates[].each` of a Suite",
}

// ExpressionsPage returns the reference page of expressions, in Markdown.
func ExpressionsPage() []byte {
	var b bytes.Buffer
	b.WriteString(generatedMark + "# Expressions\n\nExpressions are checked when a spec is compiled, against the names available at their place. " +
		"`parameters.<name>` is available everywhere, with its declared type. In approvals and guards, `tool.args` has the arguments that the tool's input schema " +
		"declares. If an argument is missing or has another type, the expression is undecided and the call is not allowed: see `docs/approvals.md`.\n\n## Places\n\n| place | names |\n| --- | --- |\n")
	for _, place := range guard.Places() {
		fmt.Fprintf(&b, "| %s | `%s` |\n", Places[place], strings.Join(NamesAt(place), "`, `"))
	}
	b.WriteString("\n## Names\n\n| name | value | |\n| --- | --- | --- |\n")
	for _, r := range roots {
		fieldRows(&b, r.name, reflect.TypeOf(r.value), "expr")
	}
	b.WriteString("| `run.by` in `approvers` | object | Who started the run: `subject` and `issuer`. |\n| `baseline` | object | The same fields as `stats`, for the baseline. |\n| `output` | any value | The validated answer. |\n" +
		"| `case` in checks | object | The row of the dataset. |\n| `case` in `gates[].each` | object | The statistics of a case under a variant: |\n")
	fieldRows(&b, "case", caseEnv, "expr")
	b.WriteString("\n## Functions\n\n| function | description |\n| --- | --- |\n")
	for _, name := range guard.Functions() {
		f, _ := guard.Function(name)
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Type, f.Doc)
	}
	return b.Bytes()
}

// NamesAt returns the names that compile in a place.
func NamesAt(place string) []string {
	env, _ := guard.Place(place, map[string]any{})
	candidates := []string{"output", "case", "baseline"}
	for _, r := range roots {
		candidates = append(candidates, r.name)
	}
	return slices.DeleteFunc(candidates, func(name string) bool {
		_, problem := guard.CompileValue(name, env)
		return problem != nil
	})
}

// fieldRows writes a row for each field of a struct, including nested structs.
func fieldRows(b *bytes.Buffer, path string, t reflect.Type, tag string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if f.Anonymous && name == "" {
			fieldRows(b, path, f.Type, tag)
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		if path != "" {
			name = path + "." + name
		}
		fmt.Fprintf(b, "| `%s` | %s |%s\n", name, jsonTypeName(f.Type), docColumn(f, tag))
		if inner, suffix := element(f.Type); inner != stepEnv && inner.Kind() == reflect.Struct && inner.PkgPath() != "time" && strings.Count(name, ".") < 2 {
			fieldRows(b, name+suffix, inner, tag)
		}
	}
}

// docColumn returns the documentation column of a field in expressions; other
// tables have none.
func docColumn(f reflect.StructField, tag string) string {
	if tag != "expr" {
		return ""
	}
	text := f.Tag.Get("doc")
	if enum := f.Tag.Get("enum"); enum != "" {
		text += " One of `" + strings.ReplaceAll(enum, "|", "`, `") + "`."
	}
	return " " + text + " |"
}

// stepEnv has its own rows, as step.
var stepEnv = reflect.TypeFor[exprenv.Step]()

// element returns the element type of a pointer, list or map, and the path suffix
// to it.
func element(t reflect.Type) (inner reflect.Type, suffix string) {
	switch t.Kind() {
	case reflect.Pointer:
		return element(t.Elem())
	case reflect.Slice:
		return t.Elem(), "[]"
	case reflect.Map:
		return t.Elem(), ".<name>"
	default:
		return t, ""
	}
}

// jsonTypeName returns the JSON type of a field.
func jsonTypeName(t reflect.Type) string {
	switch t.String() {
	case "time.Time":
		return "time, RFC 3339"
	case "json.RawMessage":
		return "JSON"
	case "model.Text":
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonTypeName(t.Elem())
	case reflect.Slice:
		if t.Elem() == stepEnv {
			return "list of `step`"
		}
		return "list of " + jsonTypeName(t.Elem())
	case reflect.Map, reflect.Struct:
		return "object"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Interface:
		return "any value"
	case reflect.Float64:
		return "number"
	default:
		return "integer"
	}
}
