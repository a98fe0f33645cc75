package language

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// calledElsewhere are keys that people bring along from other tools, most of
// them from OpenSearch's agents, and what they write here instead.
var calledElsewhere = map[string]string{
	"max_iteration":               "write limits: {executor_max_iterations: ...} for the calls of one step, or {max_steps: ...} for the steps",
	"max_iterations":              "write limits: {executor_max_iterations: ...} for the calls of one step, or {max_steps: ...} for the steps",
	"executor_max_iteration":      "write limits: {executor_max_iterations: ...}",
	"executor_agent_id":           "write executor: {agent: the file of another spec}",
	"model_id":                    "a model is an entry of llms: {main: {provider: ..., model: ...}}",
	"llm_interface":               "the provider of an entry of llms says how its model is spoken to",
	"_llm_interface":              "the provider of an entry of llms says how its model is spoken to",
	"app_type":                    "there is no such thing here: leave it out",
	"prompt":                      "the key says whose prompt it is: planner_prompt, executor_system_prompt, reflect_prompt",
	"prompt_template":             "planner, reflector and finalizer have templates of their own, such as planner_prompt_template",
	"reflect_prompt_with_history": "write reflector: {reflect_prompt_template: ...}",
	"if":                          "a condition is written as when",
	"condition":                   "a condition is written as when",
	"action":                      "what is done is written as do",
	"instructions":                "write the instructions in a prompt: planner: {planner_prompt: ...}, executor: {executor_system_prompt: ...}",
	"instruction":                 "write the instructions in a prompt: planner: {planner_prompt: ...}, executor: {executor_system_prompt: ...}",
	"system_message":              "write it in a prompt: planner: {system_prompt: ...}, executor: {executor_system_prompt: ...}",
	"backstory":                   "write it in a prompt: executor: {executor_system_prompt: ...}",
	"env_vars":                    "the environment of a command stands under env",
}

// synonyms are keys that are right in another type or another product, and the
// words for the same among the keys of an entry: the first that it has is meant.
// What is spelled nearly alike needs no row.
var synonyms = map[string][]string{
	"api_base":          {"base_url"},
	"api_key":           {"api_key_env"},
	"api_url":           {"base_url", "url"},
	"cmd":               {"argv", "command"},
	"command":           {"argv"},
	"directory":         {"cwd", "root"},
	"endpoint":          {"base_url", "url"},
	"exec":              {"argv", "command"},
	"input":             {"input_schema", "stdin"},
	"max_output_tokens": {"max_tokens"},
	"max_retries":       {"retry"},
	"max_tokens":        {"max_output_tokens"},
	"model_name":        {"model"},
	"parameters":        {"input_schema"},
	"retries":           {"retry"},
	"run":               {"argv", "command"},
	"schema":            {"input_schema"},
	"server_url":        {"url"},
	"stop_sequences":    {"stop"},
	"uri":               {"url"},
	"working_directory": {"cwd"},
	"workdir":           {"cwd"},
}

// fromOtherTool is what is written for a key that another tool has, or "".
func fromOtherTool(key string, all []string) diag.Advice {
	if diag.Nearest(key, all) == "" {
		for _, word := range synonyms[key] {
			if slices.Contains(all, word) {
				return diag.DidYouMean(key, word, "")
			}
		}
	}
	hint := calledElsewhere[key]
	if (key == "condition" || key == "if") && !slices.Contains(all, "when") || key == "action" && !slices.Contains(all, "do") {
		return diag.Advice{}
	}
	return diag.Advice{Hint: hint}
}

// roleWith is the role whose section has a key, or "".
func roleWith(key string, catalog *engine.Catalog) string {
	for _, role := range Roles {
		f, ok := catalog.Nodes.Find(role)
		if !ok {
			continue
		}
		fields, _ := config.Fields([]reflect.Value{config.Struct(f.Config())})
		if slices.Contains(config.FieldKeys(fields), key) {
			return role
		}
	}
	return ""
}

// ofComponent says whether a path is in an entry that a component reads, whose
// keys are its own business.
func ofComponent(path string) bool {
	return strings.HasPrefix(path, "tools.") || strings.HasSuffix(path, ".options") || strings.Contains(path, ".options.")
}

// KeyAdvice suggests what to write for a key that is not among all keys of a path:
// one of nearly that name, or the section in which it belongs.
func KeyAdvice(e *syntax.Entry, path string, all []string, catalog *engine.Catalog, sections []Section) diag.Advice {
	key := e.Key
	if path == "" && (key == "llm" || key == "model") && e.Value.Kind == syntax.Text {
		if llm := ModelEntry(e.Value.Text, catalog.Models.Types()); llm != "" {
			return diag.DidYouMean(key, "llms", "write llms: {main: "+llm+"}")
		}
	}
	if other := keyOfSection(key, path, all); other != "" {
		return diag.DidYouMean(key, other, "")
	}
	if advice := fromOtherTool(key, all); advice.Hint != "" {
		return advice
	}
	if strings.HasSuffix(path, ".options") && slices.Contains(llmKeys, key) && !slices.Contains(all, key) {
		return diag.Advice{Hint: key + " stands beside options, not in it"}
	}
	if ofComponent(path) || path == "" && diag.Nearest(key, all) != "" {
		return diag.Suggest(key, all)
	}
	if role := roleWith(key, catalog); role != "" && role != path && (path == "" || slices.Contains(Roles, path)) {
		return diag.Advice{Hint: key + " belongs under " + role}
	}
	for _, home := range sections {
		switch {
		case !slices.Contains(home.keys, key) || home.path == path:
		case home.path == "":
			return diag.Advice{Hint: key + " belongs at the top of the file"}
		default:
			return diag.Advice{Hint: key + " belongs under " + home.path}
		}
	}
	return diag.Suggest(key, all)
}
