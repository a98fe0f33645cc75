package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl/diag"
)

// completing is the first argument by which the scripts ask pexctl itself what
// may follow; where it knows nothing, the shell completes file names.
const completing = "__complete"

var completions = map[string]string{
	"bash": `_pexctl() {
  local cur="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$cur"))
}
complete -o default -F _pexctl pexctl
`,
	"zsh": `#compdef pexctl
_pexctl() {
  local -a found
  found=(${(f)"$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
compdef _pexctl pexctl
`,
	"fish": `function __pexctl_complete
  set -l words (commandline -opc)
  $words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c pexctl -a "(__pexctl_complete)"
`,
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a shell's completion script", ArgsUsage: "bash|zsh|fish",
		Description: examples("source <(pexctl completion bash)", "source <(pexctl completion zsh)", "pexctl completion fish > ~/.config/fish/completions/pexctl.fish"),
		Action: func(c *cli.Context) error {
			script, ok := completions[c.Args().First()]
			if !ok {
				return usage("which shell? pexctl completion bash, zsh or fish")
			}
			if err := atMost(c, 1); err != nil {
				return err
			}
			_, err := fmt.Fprint(c.App.Writer, script)
			return err
		},
	}
}

// complete prints what may stand for the last of the words, one a line.
func complete(app *cli.App, words []string) {
	if len(words) == 0 {
		return
	}
	cur := words[len(words)-1]
	for _, w := range candidates(app, words[:len(words)-1], cur) {
		if strings.HasPrefix(w, cur) {
			fmt.Fprintln(app.Writer, w)
		}
	}
}

func candidates(app *cli.App, before []string, cur string) []string {
	cmd, err := find(app, before)
	switch {
	case err != nil:
		return nil
	case cmd.Command == nil:
		return names(app.Commands)
	case strings.HasPrefix(cur, "-"):
		var out []string
		for _, f := range cmd.Flags {
			out = append(out, "--"+f.Names()[0])
		}
		return append(out, "--help")
	case isGroup(cmd.Command):
		return names(cmd.Subcommands)
	case len(cmd.rest) == 0:
		return arguments(cmd.HelpName)
	}
	switch last := cmd.rest[len(cmd.rest)-1]; last {
	case "-o", "--output":
		return formats(cmd.Command)
	case "--node":
		return []string{"planner", "planner_with_history", "executor", "reflector", "finalizer"}
	}
	return nil
}

func formats(cmd *cli.Command) []string {
	switch cmd.HelpName {
	case "graph":
		return graphFormats
	case "vet":
		return vetFormats
	}
	return []string{"text", "json"}
}

// arguments are the words a command takes, where they are not files; command
// is its full name.
func arguments(command string) []string {
	var out []string
	switch command {
	case "list":
		return kinds()
	case "completion":
		return []string{"bash", "fish", "zsh"}
	case "resume", "runs show", "runs cancel", "runs fork", "runs diff", "runs export", "runs rm":
		return runsHere()
	case "explain":
		for _, m := range diag.Codes() {
			out = append(out, string(m.Code))
		}
	}
	return out
}
