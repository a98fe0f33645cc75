package runcmd

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/internal/app/failure"
)

func promptFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "prompt", Usage: "`NAME=TEXT`: Replace a prompt, such as planner.system_prompt; TEXT may be @FILE, or @- for stdin"}
}

// editedPrompts reads --prompt.
func editedPrompts(c *ui.Call) (map[string]string, error) {
	var out map[string]string
	for _, given := range c.StringSlice("prompt") {
		name, text, ok := strings.Cut(given, "=")
		if !ok || name == "" {
			return nil, failure.WithHintf(failure.Usagef("--prompt %q is not NAME=TEXT", given), "for example: --prompt planner.system_prompt=@prompt.md")
		}
		if _, again := out[name]; again {
			return nil, failure.Usagef("--prompt %s is given twice", name)
		}
		if file, isFile := strings.CutPrefix(text, "@"); isFile {
			b, err := ui.ReadInput(c, "--prompt "+name, file, syntax.MaxFile)
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = text
	}
	return out, nil
}
