package docscmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/catalog"
)

// TemplatesPage documents the names in each template, and the keys that are
// templates, from the data that the compiler and the language server use.
func TemplatesPage(c *catalog.Catalog) ([]byte, error) {
	var schema map[string]any
	if err := json.Unmarshal(jsonschema.NewTracked(c.Catalog, c.Checks.Blueprints("check")), &schema); err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(generatedMark + "# Templates\n\n" +
		"`${parameters.name}` is replaced when the text is used. In a prompt, `${prompts.name}` is replaced when the spec is compiled. " +
		"Filters follow a bar (`json`, `trim`, `indent N`), a default follows `:-`. Write `$${` for the literal text `${`.\n\n" +
		"## Built-in parameters\n\nIn addition to the declared parameters, these names are available in the templates of the first row:\n")
	texts := notedKeys(schema, "template", "prompt")
	nameTable(&b, texts)
	b.WriteString("\nIf the template of planner, reflector or finalizer does not use `chat_history`, `completed_steps` and `plan_progress` start with the earlier turns of the conversation.\n" +
		"\n`plan_progress` is the plan with its results and the ids of the remaining steps; each step appears once. While steps remain, a run with more than `limits.message_history_limit` results " +
		"(at least 4) shows the newest 10 to 20 percent of that many in full, and all results that no review has seen. Of older steps it shows ids and statuses, and goals and errors of those that failed. " +
		"The last review shows everything. With `memory.compaction`, its rules shorten the prompt instead.\n" +
		"\n`user_messages` lists the messages that the user sent to the run so far, oldest first. If the template of planner, reflector or finalizer does not use it, " +
		"they follow the prompt, under a line that introduces them.\n")
	b.WriteString("\n## Keys that are templates\n\nFor tools, nodes and checks, the key follows their type.\n\n| key | names in `${...}` |\n| --- | --- |\n")
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "| %s | %s |\n", key, namesText(noteVars(texts[key])))
	}
	b.WriteString("\n## Keys that are expressions\n\nFor the names of each place, see [expressions.md](expressions.md). The names of `guards[].when` depend on `at`.\n\n| key | place |\n| --- | --- |\n")
	conditions := notedKeys(schema, "expression")
	for _, key := range slices.Sorted(maps.Keys(conditions)) {
		fmt.Fprintf(&b, "| %s | %s |\n", key, environmentText(conditions[key]))
	}
	return b.Bytes(), nil
}

// nameTable writes a table of engine.PromptNames: a row per name, a column per
// template used by a key.
func nameTable(b *bytes.Buffer, keys map[string]map[string]string) {
	var templates, names []string
	for _, t := range slices.Sorted(maps.Keys(engine.PromptNames)) {
		for _, note := range keys {
			if slices.Contains(noteVars(note), "@"+t) && !slices.Contains(templates, t) {
				templates, names = append(templates, t), append(names, engine.PromptNames[t]...)
			}
		}
	}
	fmt.Fprintf(b, "\n| | `%s` |\n|%s\n", strings.Join(templates, "` | `"), strings.Repeat(" --- |", len(templates)+1))
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		fmt.Fprintf(b, "| `%s` |", n)
		for _, t := range templates {
			if slices.Contains(engine.PromptNames[t], n) {
				b.WriteString(" yes |")
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
}

// notedKeys returns the keys of a schema whose texts have one of the meanings in
// what, with their notes.
func notedKeys(schema map[string]any, what ...string) map[string]map[string]string {
	out := map[string]map[string]string{}
	defs, _ := schema["$defs"].(map[string]any)
	for name, def := range defs {
		addNotedKeys(out, what, ownerName(name), "", def)
	}
	return out
}

// ownerName returns the name of a definition's owner on pages.
func ownerName(def string) string {
	kind, name, ok := strings.Cut(def, ".")
	switch {
	case ok:
		return kind + " `" + name + "`: "
	case def == "llm":
		return "`llms.<name>`: "
	case def == "agent":
		return ""
	default:
		return def + ": "
	}
}

// addNotedKeys adds the keys at a value of the schema, recursively.
func addNotedKeys(out map[string]map[string]string, what []string, of, path string, value any) {
	v, ok := value.(map[string]any)
	if !ok {
		return
	}
	if note, ok := v["x-pex"].(map[string]any); ok && slices.Contains(what, fmt.Sprint(note["is"])) {
		tags := map[string]string{}
		for k, t := range note {
			tags[k] = fmt.Sprint(t)
		}
		out[of+"`"+path+"`"] = tags
	}
	properties, _ := v["properties"].(map[string]any)
	for key, below := range properties {
		addNotedKeys(out, what, of, strings.TrimPrefix(path+"."+key, "."), below)
	}
	addNotedKeys(out, what, of, path+"[]", v["items"])
	addNotedKeys(out, what, of, path+".<name>", v["additionalProperties"])
	for _, word := range []string{"then", "else"} {
		addNotedKeys(out, what, of, path, v[word])
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		cases, _ := v[word].([]any)
		for _, c := range cases {
			addNotedKeys(out, what, providerOf(of, c), path, c)
		}
	}
}

// providerOf returns the provider that a part of the schema of llms applies to.
func providerOf(of string, part any) string {
	p, _ := part.(map[string]any)
	var cond struct {
		Properties struct{ Provider struct{ Const string } }
	}
	text, err := json.Marshal(p["if"])
	if err != nil || json.Unmarshal(text, &cond) != nil || cond.Properties.Provider.Const == "" {
		return of
	}
	return "provider `" + cond.Properties.Provider.Const + "`: "
}

// noteVars returns the words in the vars tag of a note.
func noteVars(note map[string]string) []string {
	return strings.FieldsFunc(note["vars"], func(r rune) bool { return r == ',' || r == ' ' })
}

// namesText describes the names that a vars tag allows: parameters, env, or those
// of an engine template.
func namesText(vars []string) string {
	var out []string
	for _, w := range vars {
		if template, ok := strings.CutPrefix(w, "@"); ok {
			out = append(out, "the built-in parameters of `"+template+"`")
			continue
		}
		out = append(out, "`"+w+".`")
	}
	if len(out) == 0 {
		return "the names of the prompt that uses it"
	}
	return strings.Join(out, ", ")
}

// environmentText describes the environment of an expression: a place on the page of
// expressions, or its own names.
func environmentText(note map[string]string) string {
	text := note["env"]
	if place, ok := strings.CutPrefix(text, "@"); ok {
		text = Places[place]
	} else {
		text = "own names: `" + text + "`"
	}
	if words := note["words"]; words != "" {
		text += "; or one of `" + strings.ReplaceAll(words, "|", "`, `") + "`"
	}
	return text
}
