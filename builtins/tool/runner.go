package tool

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// runner is a program that runs what it is told: text in a language of its
// own, a file, or another program.
type runner struct {
	names    *words // as named writes them
	what     string // what it runs, in words
	way      string // the way out, "" = wayOut
	options  *words // whose value is run, attached or as the next element
	takes    *words // options with any other value, so that it is no operand
	from, to int    // the operands that are run, from 1; to 0 = from alone, to -1 = all that follow
	unless   *words // options by which the operands are not run
	skips    *words // first operands that only say how, such as run
	verbs    *words // options of a first operand, as "operand option", whose value is run
	stdin    input  // whether it runs its standard input
	reads    *words // options by which it runs that beside operands
	launches bool   // what stands behind is a command of its own
	ends     bool   // what stands behind the operand from is not its own
	closes   *words // options behind whose value nothing is its own
	inline   *words // options by which the script stands in argv and takes no options itself
}

type input int

const (
	data  input = iota
	bare        // where no operand says what else it runs
	lines       // always
)

const (
	script      = "a script"
	commandLine = "a command line for a shell"
	program     = "a program"
	clientSQL   = "SQL and commands of the client, of which some start programs"

	wayOut     = `keep it fixed and pass args behind it: ["sh", "-c", "echo \"$1\"", "sh", "${args.text}"]`
	wayProgram = "name the program, and pass args behind it"
	wayChoice  = "let input_schema declare the argument by an enum, or by a pattern such as ^[a-z]+$"
	waySQL     = `keep it in a file and pass args as variables, which its text quotes: ["psql", "-v", "name=${args.name}", "-f", "query.sql"]`
	waySqlite  = "write -safe before the database, or use a tool of type sql"
	waySSH     = "let input_schema declare the argument by an enum or a pattern such as ^[a-z]+$, or pass it by stdin to a fixed command"
)

// words is any of some words, told by the text of a regular expression. It is
// compiled when it is first needed: the table is long, and most programs that
// start with it run no command.
type words struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// whole matches any of some words, and nothing around them.
func whole(options string) *words { return &words{text: `^(` + options + `)$`} }

// MatchString says whether s is one of the words.
func (w *words) MatchString(s string) bool {
	w.once.Do(func() { w.re = regexp.MustCompile(w.text) })
	return w.re.MatchString(s)
}

// runners are the programs by which a value would become code. The list is of
// what is common and cannot be whole: it knows no program of an author's own,
// no commands within commands (a script of npm, a shell's eval), no file that a
// program takes for its settings, and no value such as @file that one program
// alone reads as more than text.
var runners = []runner{
	{
		names: whole(`r?bash|sh|dash|ash|zsh|m?ksh|oksh|yash|fish|t?csh|nu|xonsh|elvish`), what: script, options: whole(`--rcfile|--init-file|--command`),
		takes: whole(`-o|\+o|-[A-Za-z]*o|-O|\+O`), from: 1, skips: whole(`\+[A-Za-z]+`), stdin: bare, reads: whole(`-[A-Za-z]*s`), ends: true, inline: whole(`-[A-Za-z]*c`),
	},
	{
		names: whole(`i?python|pypy`), what: script, options: whole(`-[A-Za-z]*[cm]`), takes: whole(`-[WX]`), from: 1, stdin: bare,
		ends: true, closes: whole(`-[A-Za-z]*[cm]`), inline: whole(`-[A-Za-z]*c`),
	},
	{
		names: whole(`node|nodejs`), what: script, options: whole(`-e|-p|-pe|-r|--eval|--print|--require|--import|--loader|--experimental-loader`),
		takes: whole(`-C|--conditions|--env-file|--title`), from: 1, unless: whole(`-e|-p|-pe|--eval|--print`), stdin: bare, ends: true,
	},
	{
		names: whole(`deno|bun`), what: script, options: whole(`-e|-p|-r|--eval|--print|--preload|--require|--import-map|eval`),
		takes: whole(`-c|--config|--cwd|--env-file`), from: 1, unless: whole(`-e|-p|--eval|--print`), skips: whole(`run|x|test|eval`), stdin: bare, ends: true,
	},
	{names: whole(`perl`), what: script, options: whole(`-[A-Za-z0-9]*[eEMm]`), takes: whole(`-I`), from: 1, unless: whole(`-[A-Za-z0-9]*[eE]`), stdin: bare, ends: true},
	{
		names: whole(`ruby|php|lua|luajit|rscript|julia|groovy|elixir|osascript|tclsh|expect|guile|racket|octave|scala|kotlin|ghc|raku`), what: script,
		options: whole(`-[A-Za-z]*[eErc]|--eval`), takes: whole(`-I|-l`), from: 1, unless: whole(`-[A-Za-z]*[eErc]|--eval`), stdin: bare, ends: true,
	},
	{
		names: whole(`pwsh|powershell`), what: script, way: `write it to a file: ["pwsh", "-File", "script.ps1", "${args.text}"]`,
		options: whole(`(?i)-(c|command|e|ec|enc|encodedcommand|f|file)`), takes: whole(`(?i)-(executionpolicy|ep|ex|version|workingdirectory|wd)`),
		from: 1, to: -1, stdin: bare, closes: whole(`(?i)-(f|file)`),
	},
	{names: whole(`cmd|command\.com`), what: "a command line of Windows", way: wayProgram, from: 1, to: -1, stdin: bare, launches: true},
	{
		names: whole(`[gmn]?awk`), what: "an awk program", way: `pass it as a variable: ["awk", "-v", "x=${args.x}", "{ print x }"]`,
		options: whole(`-e|--source|-i|--include|-l|--load|-f|--file|-E|--exec`), takes: whole(`-F|-v|--assign|--field-separator`),
		from: 1, unless: whole(`-e|--source|-f|--file|-E|--exec`), ends: true,
	},
	{
		names: whole(`g?sed`), what: "a sed script, which can run commands", way: "find and replace in another way, such as awk with -v",
		options: whole(`-[nEsruz]*[ef]|--expression|--file`), from: 1, unless: whole(`-[nEsruz]*[ef]|--expression|--file`),
	},
	{
		names: whole(`sqlite|duckdb`), what: "SQL and commands of sqlite3, of which some start programs", way: waySqlite, options: whole(`--?cmd|--?init|-[cs]`),
		takes: whole(`--?(separator|nullvalue|newline|vfs)`), from: 2, to: -1, unless: whole(`--?safe`), stdin: bare,
	},
	{names: whole(`psql|mysql|mariadb|mongosh|mongo`), what: clientSQL, way: waySQL, options: whole(`-[A-Za-z]*[cef]|--command|--execute|--eval|--file`), takes: whole(`-[dhpUvPu]`), stdin: lines},
	{names: whole(`ed|ex|dc|at|batch|crontab|gdb|gnuplot|ftp|telnet`), what: "commands, of which some start programs", options: whole(`-e|-ex|-c|-x`), stdin: lines},
	{names: whole(`vi|vim|nvim|view|emacs`), what: "commands of the editor, of which some start programs", options: whole(`-c|-S|--cmd|--eval|-l|--load|-f|--funcall`)},
	{names: whole(`g?make`), what: "a target or a variable, which can name programs", way: wayChoice, options: whole(`--eval|-E|-f|--file|--makefile`), takes: whole(`-[CjlIoW]`), from: 1, to: -1},
	{names: whole(`ssh`), what: commandLine, way: waySSH, options: whole(`-o|-F`), takes: whole(`-[BbcDEeIiJLlmOpQRSWw]`), from: 2, to: -1, stdin: bare, launches: true},
	{names: whole(`scp|sftp`), what: program, way: wayProgram, options: whole(`-o|-S|-F|-D`)},
	{names: whole(`rsync`), what: commandLine, way: wayProgram, options: whole(`-[A-Za-z]*e|--rsh|--rsync-path`)},
	{
		names: whole(`git`), what: "what git does", way: "name it, and pass args behind it", options: whole(`-c|--exec-path|--config-env`), takes: whole(`-C|--git-dir|--work-tree|--namespace`), from: 1,
		verbs: whole(`\S+ (--exec|--upload-pack|--receive-pack|--extcmd|--open-files-in-pager)|(rebase|difftool) -x|clone (-c|-u|--config)|grep -O|` +
			`bisect run|submodule foreach|filter-branch --\S+-filter|(config|foreach) \S+`),
	},
	{
		names: whole(`(g|bsd)?tar`), what: "a program or the letters of tar's options", way: wayProgram,
		options: whole(`-I|-F|--use-compress-program|--to-command|--checkpoint-action|--rsh-command|--rmt-command|--info-script|--new-volume-script`),
		takes:   whole(`-[A-Za-z]*[fCTXbVg]`), from: 1, unless: whole(`-.*`),
	},
	{names: whole(`sort|split|zip|man|wget|nc|ncat|netcat`), what: program, way: wayProgram, options: whole(`--compress-program|--filter|-TT|--unzip-command|-P|--pager|--use-askpass|--execute|-e|--exec|--sh-exec`)},
	{names: whole(`socat`), what: "an address, which can name programs", way: wayChoice, from: 1, to: -1},
	{names: whole(`find`), what: program, way: wayProgram, options: whole(`-exec|-execdir|-ok|-okdir`), launches: true},
	{names: whole(`java`), what: program, way: wayProgram, options: whole(`-jar|-cp|-classpath|--class-path|-javaagent`), takes: whole(`-p|--module-path`), from: 1, ends: true, closes: whole(`-jar`)},
	{names: whole(`go`), what: program, way: wayProgram, options: whole(`-exec|-toolexec|-vettool`), from: 1, skips: whole(`run`)},
	{names: whole(`su|runuser|script`), what: commandLine, options: whole(`-[A-Za-z]*c|--command`), launches: true},
	{names: whole(`flock`), what: commandLine, options: whole(`-c|--command`), takes: whole(`-w|-E|--wait|--timeout|--conflict-exit-code`), from: 2, launches: true},
	{names: whole(`watch|parallel`), what: commandLine, takes: whole(`-n|-j`), from: 1, to: -1, stdin: lines, launches: true},
	{names: whole(`xargs`), what: "the arguments of a program, of which one value can become many", way: wayProgram, takes: whole(`-[IiLlnPsadE]`), from: 1, stdin: lines, launches: true},
	{names: whole(`env`), what: program, way: wayProgram, options: whole(`-[iv0]*S|--split-string`), takes: whole(`-u|-C|--unset|--chdir`), from: 1, skips: whole(`-`), launches: true},
	{names: whole(`timeout`), what: program, way: wayProgram, takes: whole(`-k|-s|--kill-after|--signal`), from: 2, launches: true},
	{names: whole(`sudo|doas`), what: program, way: wayProgram, takes: whole(`-[ugpCrtTURDh]|--(user|group|prompt|role|type|other-user|chdir|chroot|host|close-from|command-timeout)`), from: 1, launches: true},
	{names: whole(`nice|ionice`), what: program, way: wayProgram, takes: whole(`-[ncp]|--adjustment|--class|--classdata`), from: 1, launches: true},
	{names: whole(`stdbuf|time`), what: program, way: wayProgram, takes: whole(`-[ioef]|--input|--output|--error|--format`), from: 1, launches: true},
	{names: whole(`npx|bunx|uvx|pnpx`), what: program, way: wayProgram, options: whole(`-c|--call|-p|--package|--from|--with`), takes: whole(`-w|--workspace`), from: 1, launches: true},
	{names: whole(`npm|pnpm|yarn|uv|pipx|poetry|cargo`), what: program, way: wayProgram, takes: whole(`-C|--prefix|--dir|--cwd|--directory`), from: 1, skips: whole(`run|run-script|exec|dlx|x|tool`), launches: true},
	{names: whole(`nohup|setsid|busybox|toybox|chronic|unbuffer|gosu|pkexec|tini|dumb-init|xvfb-run`), what: program, way: wayProgram, launches: true, skips: whole(`--?`), from: 1},
	{names: whole(`chroot`), what: program, way: wayProgram, from: 2, launches: true},
	{
		names:    whole(`docker|docker-compose|podman|nerdctl|kubectl|oc|crictl|nsenter|unshare|firejail|bwrap|strace|ltrace|systemd-run|taskset|numactl|chrt|prlimit|cpulimit|setpriv|su-exec|entr|tmux|screen|nix|nix-shell|wsl`),
		launches: true,
	},
}

// named is how a program is called in the table: its name without its folder,
// its version, the letters that Windows adds, and capitals, which some file
// systems do not tell apart.
func named(program string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimRight(name, "0123456789.-")
}

// runnerOf is the runner that a program is, by its name.
func runnerOf(program string) (runner, bool) {
	name := named(program)
	for _, r := range runners {
		if r.names.MatchString(name) {
			return r, true
		}
	}
	return runner{}, false
}

// steering are the variables by which a value chooses what is run.
var steering = whole(`PATH|HOME|SHELL|IFS|ENV|PS4|BASH_.*|PROMPT_COMMAND|LD_.*|DYLD_.*|GCONV_PATH|PYTHON.*|NODE_(OPTIONS|PATH)|PERL5.*|RUBY(OPT|LIB)|LUA_.*|` +
	`JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|MAKEFLAGS|GIT_(SSH|SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|ASKPASS|CONFIG.*|EXEC_PATH|PROXY_COMMAND|DIR|WORK_TREE|TEMPLATE_DIR)|` +
	`SSH_ASKPASS|SUDO_ASKPASS|PAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|BROWSER|PEX_.*`)
