package assertion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/process"
)

// CommandConfig configures the check command.
type CommandConfig struct {
	Argv    []component.Template          `yaml:"argv" required:"true" min:"1" vars:"case,parameters" doc:"Program and arguments, run without a shell in the folder of this file."`
	Env     map[string]component.Template `yaml:"env" vars:"case,parameters" doc:"Environment variables in addition to PATH, HOME, LANG and TMPDIR. Other variables are not passed on."`
	Timeout time.Duration                 `yaml:"timeout" min:"1ms" doc:"Maximum duration."`
}

// Command grades an answer with a program.
var Command = component.New("command", "A program grades the answer. It receives {case, parameters, response, output, trace, result} as JSON on standard input and exits with 0 (pass) or 1 (fail), or prints {\"pass\": true, \"score\": 0.8, \"message\": \"...\"}. Any other exit status, or invalid JSON, is an error of the check.",
	func() CommandConfig { return CommandConfig{Timeout: 30 * time.Second} }, newCommand)

type command struct {
	config   CommandConfig
	settings trial.CheckSettings
}

var _ trial.Check = (*command)(nil)

func newCommand(c *CommandConfig, s trial.CheckSettings) (trial.Check, error) {
	if len(c.Argv) == 0 || c.Argv[0].Text == "" {
		return nil, errors.New("argv must name a program")
	}
	if hasRefs(c.Argv[0]) {
		return nil, errors.New("argv[0] must not come from the dataset: write the program's name, and pass values after it")
	}
	return &command{*c, s}, nil
}

// Check implements trial.Check.
func (c *command) Check(ctx context.Context, s *trial.Subject) (trial.Mark, error) {
	if c.settings.NoPrograms {
		return trial.Mark{}, errors.New("pexctl test --no-commands starts no programs, so this check cannot pass")
	}
	child, err := c.child(s)
	if err != nil {
		return trial.Mark{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	res, err := process.Run(bounded, child)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		return trial.Mark{}, fmt.Errorf("%s did not finish within %s%s", child.Argv[0], c.config.Timeout, outputText(res))
	case err != nil:
		return trial.Mark{}, err
	case res.Signal != "":
		return trial.Mark{}, fmt.Errorf("%s was killed by signal %s%s", child.Argv[0], res.Signal, outputText(res))
	case res.Code != 0 && res.Code != 1:
		return trial.Mark{}, fmt.Errorf("%s exited with status %d%s", child.Argv[0], res.Code, outputText(res))
	}
	m, err := grade(res)
	if err != nil {
		return trial.Mark{}, fmt.Errorf("%s %w", child.Argv[0], err)
	}
	m.Actual = short(s.Result.Response)
	return m, nil
}

// child returns the command with its templates rendered.
func (c *command) child(s *trial.Subject) (process.Command, error) {
	out := process.Command{Dir: c.settings.Dir, Guard: c.settings.Guard}
	for _, arg := range c.config.Argv {
		text, err := render(arg, s)
		if err != nil {
			return out, err
		}
		out.Argv = append(out.Argv, text)
	}
	machine := c.settings.Env
	if machine == nil {
		machine = func(string) string { return "" }
	}
	values := process.Inherited(machine)
	for _, name := range slices.Sorted(maps.Keys(c.config.Env)) {
		text, err := render(c.config.Env[name], s)
		if err != nil {
			return out, err
		}
		values[name] = text
	}
	var err error
	if out.Env, err = process.Environ(values); err != nil {
		return out, err
	}
	out.Path = values["PATH"]
	stdin, err := json.Marshal(input(s))
	text := string(stdin)
	out.Stdin = &text
	return out, err
}

// input returns the program's input.
func input(s *trial.Subject) any {
	return struct {
		Case       map[string]any `json:"case"`
		Parameters map[string]any `json:"parameters"`
		Response   string         `json:"response"`
		Output     any            `json:"output"`
		Trace      *exprenv.Trace `json:"trace"`
		Result     *engine.Result `json:"result"`
	}{s.Case, s.Parameters, s.Result.Response, s.Output, &s.Trace, s.Result}
}

// grade parses the output of a program that exited with 0 or 1.
func grade(res process.Result) (trial.Mark, error) {
	printed := strings.TrimSpace(res.Stdout)
	if !strings.HasPrefix(printed, "{") {
		return boolean(res.Code == 0, "", "", fmt.Sprintf("exit status %d", res.Code)+outputText(res)), nil
	}
	var g struct {
		Pass    *bool    `json:"pass"`
		Score   *float64 `json:"score"`
		Message string   `json:"message"`
	}
	if err := json.Unmarshal([]byte(printed), &g); err != nil {
		return trial.Mark{}, fmt.Errorf("printed invalid JSON: %w: %s", err, brief(printed))
	}
	switch {
	case g.Pass == nil:
		return trial.Mark{}, fmt.Errorf("printed a JSON object without pass: %s", brief(printed))
	case *g.Pass && res.Code != 0:
		return trial.Mark{}, fmt.Errorf("printed pass: true but exited with status %d%s", res.Code, outputText(res))
	case g.Score != nil && !(*g.Score >= 0 && *g.Score <= 1):
		return trial.Mark{}, fmt.Errorf("printed a score of %s; scores range from 0 to 1", formatNumber(*g.Score))
	}
	m := boolean(*g.Pass, "", "", g.Message)
	if g.Score != nil {
		m.Score = *g.Score
	}
	return m, nil
}

// outputText returns the program's stderr, or else its stdout, for an error message.
func outputText(res process.Result) string {
	text := strings.TrimSpace(res.Stderr)
	if text == "" {
		text = strings.TrimSpace(res.Stdout)
	}
	if text == "" {
		return ""
	}
	return ": " + short(text)
}
