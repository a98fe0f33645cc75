package completecmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
)

// Word is the first argument of the call with which the scripts request
// completions. If it prints none, the shell completes file names.
const Word = "__complete"

var completions = map[string]string{
	"bash": `_pexctl() {
  local cur="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$cur"))
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _pexctl pexctl
`,
	"zsh": `#compdef pexctl
_pexctl() {
  local -a found
  found=(${(f)"$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  local -a open=(${(M)found:#*=})
  found=(${found:#*=})
  if (( $#open )); then compadd -S '' -a open; fi
  if (( $#found )); then compadd -a found; elif (( ! $#open )); then _files; fi
}
compdef _pexctl pexctl
`,
	"fish": `function __pexctl_complete
  set -l words (commandline -opc)
  $words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c pexctl -n 'count (__pexctl_complete) >/dev/null' -f -a "(__pexctl_complete)"
`,
}

// Command returns "pexctl completion".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "Print a shell completion script", ArgsUsage: "bash | zsh | fish",
		Description: ui.Help("", "source <(pexctl completion bash)", "source <(pexctl completion zsh)", "pexctl completion fish > ~/.config/fish/completions/pexctl.fish"),
		Action: env.Action(func(c *ui.Call) error {
			script, ok := completions[c.Arg(0)]
			if !ok {
				return failure.Usagef("unknown shell %q; use bash, zsh or fish", c.Arg(0))
			}
			_, err := fmt.Fprint(ui.Verbatim(c.Stdout), script)
			return err
		}, 1),
	}
}

// safeWord matches words that no shell expands: bash expands completions, and the
// keys of a foreign spec can be any text.
var safeWord = text.Regexp(`^[\w.,:+@/=-]+$`)

// Complete prints the completions of the last word, one per line.
func Complete(components *catalog.Catalog, app *cli.App, words []string) {
	if len(words) == 0 {
		return
	}
	cur := words[len(words)-1]
	for _, w := range candidates(components, app, words[:len(words)-1], cur) {
		if strings.HasPrefix(w, cur) && safeWord().MatchString(w) {
			fmt.Fprintln(app.Writer, w)
		}
	}
}

func candidates(components *catalog.Catalog, app *cli.App, before []string, cur string) []string {
	if len(before) > 0 && before[0] == "help" { // help takes the words of a command
		before = before[1:]
	}
	cmd, err := ui.Find(app, before)
	switch {
	case err != nil:
		return nil
	case cmd.Command == nil:
		return ui.Names(app.Commands)
	}
	flags, args, err := ui.SortFlags(cmd.Command, cmd.Rest)
	switch {
	case err != nil && len(cmd.Rest) > 0: // the last word needs a value
		last := cmd.Rest[len(cmd.Rest)-1]
		if f := ui.FlagOf(cmd.Command, strings.TrimLeft(last, "-")); f != nil {
			return flagValues(components, f, cmd.Rest[:len(cmd.Rest)-1])
		}
		return nil
	case strings.HasPrefix(cur, "-"):
		return flagWords(components, cmd, cur)
	case ui.IsGroup(cmd.Command):
		return ui.Names(cmd.Subcommands)
	}
	out := arguments(components, cmd.HelpName, args)
	if len(args) == 0 && len(flags) == 0 { // eval also takes arguments
		out = append(out, ui.Names(cmd.Subcommands)...)
	}
	return out
}

// flagWords returns the flags of a command or, if cur is a flag followed by =,
// the flag with each of its values.
func flagWords(components *catalog.Catalog, cmd ui.ResolvedCommand, cur string) (out []string) {
	if name, _, valued := strings.Cut(cur, "="); valued {
		if f := ui.FlagOf(cmd.Command, strings.TrimLeft(name, "-")); f != nil {
			for _, value := range flagValues(components, f, cmd.Rest) {
				out = append(out, name+"="+value)
			}
		}
		return out
	}
	for _, f := range cmd.Flags {
		out = append(out, "--"+f.Names()[0])
	}
	return append(out, "--help")
}
