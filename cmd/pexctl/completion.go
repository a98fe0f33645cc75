package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// The scripts ask pexctl itself what may follow.
var completions = map[string]string{
	"bash": `_pexctl() {
  local cur="${COMP_WORDS[COMP_CWORD]}" opts
  opts=$("${COMP_WORDS[@]:0:COMP_CWORD}" ${cur:+"$cur"} --generate-bash-completion 2>/dev/null)
  COMPREPLY=($(compgen -W "$opts" -- "$cur"))
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _pexctl pexctl
`,
	"zsh": `#compdef pexctl
_pexctl() {
  local -a opts
  opts=("${(@f)$(${words[1,CURRENT-1]} --generate-bash-completion 2>/dev/null)}")
  [[ -n "${opts[1]}" ]] && compadd -a opts
  _files
}
compdef _pexctl pexctl
`,
	"fish": `function __pexctl_complete
  set -l words (commandline -opc)
  $words --generate-bash-completion 2>/dev/null
end
complete -c pexctl -a "(__pexctl_complete)"
`,
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a shell's completion script", ArgsUsage: "bash|zsh|fish",
		Description: examples("source <(pexctl completion bash)", "pexctl completion fish > ~/.config/fish/completions/pexctl.fish"),
		Action: func(c *cli.Context) error {
			script, ok := completions[c.Args().First()]
			if !ok {
				return usage("there are scripts for bash, zsh and fish")
			}
			_, err := fmt.Fprint(c.App.Writer, script)
			return err
		},
	}
}
