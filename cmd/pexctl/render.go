package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
)

func renderCommand() *cli.Command {
	return &cli.Command{
		Name: "render", Usage: "print the exact prompt of a node; calls nobody", ArgsUsage: `SPEC ["QUESTION"]`,
		Description: examples(
			"pexctl render spec.yaml --node planner",
			"pexctl render spec.yaml --node reflector --given state.yaml -p question='Why?'",
		),
		Flags: append(
			specFlags(),
			&cli.StringFlag{Name: "node", Value: "planner", Usage: "`NODE`: planner, planner_with_history, reflector, executor, finalizer, or an id of graph:"},
			&cli.StringFlag{Name: "given", Usage: "the state to render in: a YAML `FILE` in the shape of the result object, all optional"},
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "a parameter: `NAME=VALUE`"},
			outputFlag(),
		),
		Action: render,
	}
}

// given is a state as a person writes it: the result object's shape, and what
// a result does not hold.
type given struct {
	engine.Result
	Question   string               `json:"question"`
	Parameters map[string]any       `json:"parameters"`
	History    []engine.Interaction `json:"history"`
	Files      []string             `json:"files"`
	Now        time.Time            `json:"now"`
}

func render(c *cli.Context) error {
	wantJSON, err := asJSON(c)
	if err != nil {
		return err
	}
	p, spec, err := compile(c)
	if err != nil {
		return err
	}
	v, err := givenView(c, p)
	if err != nil {
		return err
	}
	host, err := newHost(p, hostSettings{catalog: catalog(), dir: spec.Dir, root: spec.Root, env: environment})
	if err != nil {
		return usage("%w", err)
	}
	v.Tools = host.ToolInfos()
	name := c.String("node")
	if name == "planner_with_history" {
		name = "planner"
		if len(v.State.History) == 0 {
			v.State.History = []engine.Interaction{{Question: "(an earlier question)", Answer: "(its answer)", Status: engine.Completed}}
		}
	}
	if id, ok := p.NodeOf(name); ok { // a role by the id the graph gives it
		name = id
	}
	node, ok := p.Nodes[name].(engine.Prompter)
	if !ok {
		return usage("--node %s: the nodes with prompts are %s", name, listed(prompters(p)))
	}
	messages := node.Prompt(v)
	if wantJSON {
		return printJSON(c, messages)
	}
	for i, m := range messages {
		if i > 0 {
			fmt.Fprintln(c.App.Writer)
		}
		fmt.Fprintf(c.App.Writer, "## %s\n\n%s\n", m.Role, strings.TrimRight(m.Text.String(), "\n"))
	}
	return nil
}

func prompters(p *engine.Program) []string {
	var names []string
	for id, n := range p.Nodes {
		if _, ok := n.(engine.Prompter); ok {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	return append(names, "planner_with_history")
}

// unasked says that the spec wants a question and none is given: a prompt can
// be looked at without one.
func unasked(p *engine.Program, values map[string]any, flags []string) bool {
	const name = "question"
	i := slices.IndexFunc(p.Parameters, func(p engine.Parameter) bool { return p.Name == name && p.Required && p.Default == nil })
	passed := slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, name+"=") })
	return i >= 0 && values[name] == nil && !passed
}

// givenView is what a node would see in the given state.
func givenView(c *cli.Context, p *engine.Program) (engine.View, error) {
	var g given
	if name := c.String("given"); name != "" {
		b, err := os.ReadFile(name)
		if err != nil {
			return engine.View{}, usage("--given: %w", err)
		}
		doc, found := dsl.JSON(name, b)
		if err := show(c, found); err != nil {
			return engine.View{}, err
		}
		if err := json.Unmarshal(doc, &g); err != nil {
			return engine.View{}, usage("--given %s: %w", name, err)
		}
	}
	flags := c.StringSlice("param")
	values := g.Parameters
	if values == nil {
		values = map[string]any{}
	}
	if _, set := values["question"]; !set && g.Question != "" {
		values["question"] = g.Question
	}
	question := strings.Join(c.Args().Tail(), " ")
	if question == "" && unasked(p, values, flags) {
		question = "(the question)"
	}
	file, err := json.Marshal(values)
	if err != nil {
		return engine.View{}, err
	}
	params, err := dsl.Inputs(p, question, flags, file)
	if err != nil {
		return engine.View{}, usage("%w", err)
	}
	if g.Now.IsZero() {
		g.Now = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) // a prompt is the same on every day
	}
	return engine.ViewOf(p, engine.Input{Parameters: params, Files: g.Files}, &g.Result, g.History, g.Now), nil
}
