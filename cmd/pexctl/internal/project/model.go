package project

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/internal/app/failure"
)

// ModelFlag returns --model.
func ModelFlag() cli.Flag {
	return &cli.StringFlag{Name: "model", Usage: "`PROVIDER/MODEL`: Use this model for all nodes instead of their LLMs, with default settings"}
}

// ApplyModelFlag converts --model to overrides of the entries of llms that the nodes of
// a spec use, before those of --set. It leaves errors of the spec to Compile.
func ApplyModelFlag(c *ui.Call) error {
	value := c.String("model")
	if value == "" || c.Arg(0) == "" {
		return nil
	}
	provider, model, err := modelOf(c, value)
	if err != nil {
		return err
	}
	path, err := Local(c, c.Arg(0))
	if err != nil {
		return err
	}
	o := OptionsFor(c, c.Arg(0))
	p, spec, found := dsl.Compile(path, o)
	if found.Failed() { // possibly because --set is intended for the new model
		o.Set = nil
		p, spec, found = dsl.Compile(path, o)
	}
	if found.Failed() {
		return nil
	}
	quoted, err := json.Marshal(model) // valid YAML
	if err != nil {
		return failure.Usagef("--model: %w", err)
	}
	entry := fmt.Sprintf("{provider: %s, model: %s}", provider, quoted)
	var sets []string
	for _, name := range nodeLLMs(p) {
		sets = append(sets, "llms."+name+"="+entry)
	}
	for _, o := range spec.Explain() { // for a role that overrides its LLM
		role, key, ok := strings.Cut(o.Path, ".")
		if !ok || engine.PromptNames[role] == nil {
			continue
		}
		switch key {
		case "provider":
			sets = append(sets, o.Path+"="+provider)
		case "model":
			sets = append(sets, o.Path+"="+string(quoted))
		}
	}
	if len(sets) == 0 {
		return failure.Usagef("--model has no effect: no node of the spec uses an LLM")
	}
	c.Set = append(sets, c.Set...)
	return nil
}

// modelOf splits the value of --model.
func modelOf(c *ui.Call, value string) (provider, model string, err error) {
	provider, model, _ = strings.Cut(value, "/")
	known := c.Catalog.Models.Types()
	switch {
	case provider == "" || model == "":
		return "", "", failure.Usagef("invalid value %q for --model; use PROVIDER/MODEL, such as openai/gpt-5.4-mini", value)
	case !slices.Contains(known, provider):
		err := failure.Usagef("unknown provider %q in --model; use %s", provider, ui.OneOf(known))
		if near := ui.Nearest(provider, known); near != "" {
			err = failure.Usagef("unknown provider %q in --model; did you mean %s/%s?", provider, near, model)
		}
		return "", "", err
	}
	return provider, model, nil
}

// nodeLLMs returns the entries of llms that the nodes of a program call.
func nodeLLMs(p *engine.Program) (names []string) {
	v := engine.ViewOf(p, engine.Input{Parameters: DefaultParameters(p)}, &engine.Result{}, nil, render.Epoch)
	for _, id := range render.Nodes(p) {
		call, err := render.Call(v, id)
		if err != nil || call.LLM == "" {
			continue
		}
		name, _, _ := strings.Cut(call.LLM, "+") // for a role that overrides it
		m := LLM(p, name)
		if m != nil && m.Path == "llms."+name && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
