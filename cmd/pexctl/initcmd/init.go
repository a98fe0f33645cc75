package initcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/scaffold"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

const initDescription = `Creates a spec with prompts, tests and an evaluation suite that pass. The new agent runs without an API key: its model is scripted, its tools are real. On a terminal, asks for what no flag sets. Existing files are kept unless --force is given.`

// InitCommand returns "pexctl init".
func InitCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "Create a new agent project", ArgsUsage: "[DIR]",
		Description: ui.Help(initDescription,
			"pexctl init # In this folder, interactively",
			"pexctl init my-agent --yes # With defaults, without questions",
			"pexctl init my-agent --yes --provider anthropic --tools json_query,read_file",
			"pexctl init my-agent --provider ollama # With a local model",
			"pexctl init my-agent --provider openai --base-url http://localhost:8080/v1 # llama.cpp, vLLM, LM Studio",
			"pexctl init my-agent --yes -o json | jq -r '.files[]'",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "`NAME`: Name of the agent (default: that of the folder)"},
			&cli.StringFlag{Name: "description", Usage: "`TEXT`: One-line description of the agent"},
			&cli.StringFlag{Name: "provider", Usage: "`PROVIDER`: Model provider: " + ui.OneOf(scaffold.ProviderNames())},
			&cli.StringFlag{Name: "model", Usage: "`MODEL`: Model name (default: depends on the provider)"},
			&cli.StringFlag{Name: "base-url", Usage: "`URL`: Address of your model server (default: for ollama OLLAMA_HOST or localhost:11434, else that of the provider)"},
			&cli.StringFlag{Name: "tools", Usage: "`TOOLS`: Comma-separated tools: " + ui.List(scaffold.ToolNames())},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "Use defaults instead of asking"},
			forceFlag(), ui.OutputFlag(),
		},
		Action: env.Action(withFlags(initProject), 1),
	}
}

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "Overwrite existing files"}
}

func initProject(c *call) error {
	dir := c.Arg(0)
	if dir == "" {
		dir = "."
	}
	ctx, stop := ui.OnSignal(c.Context, func() {})
	defer stop()
	answers, err := answersOf(ctx, c, dir)
	if err != nil {
		return err
	}
	files, err := scaffold.Generate(answers)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	if files, err = testedProject(ctx, c.Catalog, files); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ui.SignalError(ctx, errors.New("cancelled; nothing was created"))
	}
	return writeProject(c, createdProject{Name: answers.Name, Dir: dir, Next: initNext(dir, answers), Live: liveRun(dir, answers)}, files, c.JSON)
}

// answersOf returns the answers from the flags and the user, and the defaults.
func answersOf(ctx context.Context, c *call, dir string) (scaffold.Answers, error) {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return scaffold.Answers{}, failure.Infra(err)
	}
	a := scaffold.Suggest(folder)
	known, err := flagAnswers(c, &a)
	if err != nil {
		return a, err
	}
	lookup := func(a *scaffold.Answers) {
		if base, models := serverOf(ctx, *a, os.Getenv); base != "" {
			a.UseServer(base, models, a.BaseURL == "" && base == ollamaBase(""), slices.Contains(known, "model"))
		}
	}
	if c.Yes || slices.Contains(known, "model") {
		lookup(&a)
	}
	if err := checkDestination(c, dir, a); err != nil { // before asking questions
		return a, err
	}
	if !c.Yes && len(known) < len(scaffold.Flags()) {
		if a, err = askFor(ctx, c, a, known, lookup); err != nil {
			return a, err
		}
	}
	a.Priced = c.Prices().Knows(a.Provider, a.Model)
	return a, nil
}

// checkDestination returns an error if a project with these answers cannot be created.
func checkDestination(c *call, dir string, a scaffold.Answers) error {
	files, err := scaffold.Generate(a)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	if err := scaffold.CheckFree(dir, files, c.force); err != nil {
		return writeError(err)
	}
	return nil
}

// flagAnswers sets the answers that flags give, and returns their names. An
// invalid answer is an error.
func flagAnswers(c *call, a *scaffold.Answers) (known []string, err error) {
	for _, name := range scaffold.Flags() {
		if !c.IsSet(name) {
			continue
		}
		if err := a.Set(name, c.String(name)); err != nil {
			return nil, failure.Usagef("--%s: %w", name, err)
		}
		known = append(known, name)
	}
	if base := c.baseURL; base != "" {
		if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, failure.Usagef("--base-url: %q is no address such as http://localhost:8080/v1", tty.Flat(base))
		}
		a.BaseURL = strings.TrimSuffix(base, "/")
	}
	return known, nil
}

// askFor asks for the unknown answers at the terminal.
func askFor(ctx context.Context, c *call, a scaffold.Answers, known []string, lookup func(*scaffold.Answers)) (scaffold.Answers, error) {
	_, in := ui.Terminal(c.Stdin)
	_, out := ui.Terminal(c.Stderr)
	if !in || !out {
		missing := slices.DeleteFunc(scaffold.Flags(), func(f string) bool { return slices.Contains(known, f) })
		return a, failure.Usagef("cannot prompt without a terminal; add --yes to use defaults, or set --%s", strings.Join(missing, ", --"))
	}
	p := &ui.Person{In: bufio.NewReader(c.Stdin), Out: ui.Styled(c.Stderr)}
	pen := tty.Pen{Color: ui.UsesColor(c.Stderr)}
	if !slices.Contains(known, "provider") && !slices.Contains(known, "model") && a.BaseURL == "" {
		_, models := serverOf(ctx, scaffold.Answers{Provider: "ollama"}, os.Getenv)
		a.SuggestProvider(os.Getenv, models)
	}
	fmt.Fprintln(ui.Styled(c.Stderr), pen.Ink(tty.Dim, "Press Enter for the default in brackets, Ctrl-C to cancel.")+"\n")
	i := scaffold.Interview{Line: func() (string, error) { return p.Line(ctx) }, Out: ui.Styled(c.Stderr), Pen: pen, Lookup: lookup}
	a, err := i.Ask(a, known)
	switch {
	case ctx.Err() != nil:
		return a, ui.SignalError(ctx, errors.New("cancelled; nothing was created"))
	case errors.Is(err, io.EOF):
		fmt.Fprintln(c.Stderr)
		return a, ui.Exit(ui.ExitNegative, errors.New("end of input; nothing was created"))
	case err != nil:
		return a, failure.Infra(fmt.Errorf("read the answer: %w", err))
	}
	return a, nil
}

// initNext returns the next commands.
func initNext(dir string, a scaffold.Answers) []nextCommand {
	dir = fspath.Quote(dir)
	return []nextCommand{
		{"pexctl run " + dir, "run it; no API key needed"},
		{"pexctl test " + dir, "compare its prompts with their golden files"},
		{"pexctl eval " + dir, "grade its answers to " + ui.Count(a.Questions(), "question")},
	}
}

// liveRun returns the command that runs the project with its real model.
func liveRun(dir string, a scaffold.Answers) nextCommand {
	command := "pexctl run " + fspath.Quote(dir) + " --set planner.llm=live"
	if a.TextTools() {
		command += " --set executor.mode=react_text"
	}
	command += ` "your question"`
	for _, v := range slices.Backward(a.Variables()) {
		command = v + "=... " + command
	}
	about := "With a real model (" + a.Model
	if missing := a.Missing(); missing != "" {
		about += "; " + missing
	}
	return nextCommand{command, about + ")"}
}
