package tool

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// runner is a program that runs its input: text in a language of its own, a file, or
// another program.
type runner struct {
	programs       *words // as returned by programName
	what           string // description of what it runs
	fix            string // suggested fix, "" = wayOut
	options        *words // options whose value is run, attached or as the next element
	valueOptions   *words // options with any other value, which is not an operand
	from, to       int    // the operands that are run, from 1; to 0 = only from, to -1 = all that follow
	ignoreOperands *words // options that make it ignore its operands
	modes          *words // first operands that only select a mode, such as run
	verbs          *words // options of a first operand, as "operand option", whose value is run
	stdin          input  // whether it runs its standard input
	stdinOptions   *words // options that make it run its standard input in addition to operands
	launches       bool   // the rest is a command of its own
	operandEnds    bool   // elements after the operand from do not belong to it
	endingOptions  *words // options after whose value no element belongs to it
	inline         *words // options with an inline script that parses no options itself
}

type input int

const (
	data  input = iota
	bare        // if it has no operand to run
	lines       // always
)

const (
	script      = "a script"
	commandLine = "a command line for a shell"
	program     = "a program"
	clientSQL   = "SQL and client commands, some of which start programs"

	wayOut     = `write a constant script and pass args as its parameters, such as ["sh", "-c", "echo \"$1\"", "sh", "${args.text}"]`
	wayProgram = "write the program's name, and pass args after it"
	wayChoice  = "let input_schema declare the argument with an enum, or with a pattern such as ^[a-z]+$"
	waySQL     = `keep it in a file and pass args as variables, which its text quotes: ["psql", "-v", "name=${args.name}", "-f", "query.sql"]`
	waySqlite  = "write -safe before the database, or use a tool of type sql"
	waySSH     = "let input_schema declare the argument with an enum or a pattern such as ^[a-z]+$, or pass it by stdin to a fixed command"
)

// words is a set of words, given as a regular expression. It is compiled on first use,
// because the table is long and most processes run no command.
type words struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// matchWord matches exactly the given words.
func matchWord(options string) *words { return &words{text: `^(` + options + `)$`} }

// MatchString reports whether s is one of the words.
func (w *words) MatchString(s string) bool {
	w.once.Do(func() { w.re = regexp.MustCompile(w.text) })
	return w.re.MatchString(s)
}

// runners are the programs that would run a value as code. The list covers common
// programs and is necessarily incomplete: it does not know an author's own programs,
// commands within commands (npm scripts, eval in a shell), configuration files, or
// special values such as @file that only one program interprets.
var runners = []runner{
	{
		programs: matchWord(`r?bash|sh|dash|ash|zsh|m?ksh|oksh|yash|fish|t?csh|nu|xonsh|elvish`), what: script, options: matchWord(`--rcfile|--init-file|--command`),
		valueOptions: matchWord(`-o|\+o|-[A-Za-z]*o|-O|\+O`), from: 1, modes: matchWord(`\+[A-Za-z]+`), stdin: bare, stdinOptions: matchWord(`-[A-Za-z]*s`), operandEnds: true, inline: matchWord(`-[A-Za-z]*c`),
	},
	{
		programs: matchWord(`i?python|pypy`), what: script, options: matchWord(`-[A-Za-z]*[cm]`), valueOptions: matchWord(`-[WX]`), from: 1, stdin: bare,
		operandEnds: true, endingOptions: matchWord(`-[A-Za-z]*[cm]`), inline: matchWord(`-[A-Za-z]*c`),
	},
	{
		programs: matchWord(`node|nodejs`), what: script, options: matchWord(`-e|-p|-pe|-r|--eval|--print|--require|--import|--loader|--experimental-loader`),
		valueOptions: matchWord(`-C|--conditions|--env-file|--title`), from: 1, ignoreOperands: matchWord(`-e|-p|-pe|--eval|--print`), stdin: bare, operandEnds: true,
	},
	{
		programs: matchWord(`deno|bun`), what: script, options: matchWord(`-e|-p|-r|--eval|--print|--preload|--require|--import-map|eval`),
		valueOptions: matchWord(`-c|--config|--cwd|--env-file`), from: 1, ignoreOperands: matchWord(`-e|-p|--eval|--print`), modes: matchWord(`run|x|test|eval`), stdin: bare, operandEnds: true,
	},
	{programs: matchWord(`perl`), what: script, options: matchWord(`-[A-Za-z0-9]*[eEMm]`), valueOptions: matchWord(`-I`), from: 1, ignoreOperands: matchWord(`-[A-Za-z0-9]*[eE]`), stdin: bare, operandEnds: true},
	{
		programs: matchWord(`ruby|php|lua|luajit|rscript|julia|groovy|elixir|osascript|tclsh|expect|guile|racket|octave|scala|kotlin|ghc|raku`), what: script,
		options: matchWord(`-[A-Za-z]*[eErc]|--eval`), valueOptions: matchWord(`-I|-l`), from: 1, ignoreOperands: matchWord(`-[A-Za-z]*[eErc]|--eval`), stdin: bare, operandEnds: true,
	},
	{
		programs: matchWord(`pwsh|powershell`), what: script, fix: `write it to a file: ["pwsh", "-File", "script.ps1", "${args.text}"]`,
		options: matchWord(`(?i)-(c|command|e|ec|enc|encodedcommand|f|file)`), valueOptions: matchWord(`(?i)-(executionpolicy|ep|ex|version|workingdirectory|wd)`),
		from: 1, to: -1, stdin: bare, endingOptions: matchWord(`(?i)-(f|file)`),
	},
	{programs: matchWord(`cmd|command\.com`), what: "a Windows command line", fix: wayProgram, from: 1, to: -1, stdin: bare, launches: true},
	{
		programs: matchWord(`[gmn]?awk`), what: "an awk program", fix: `pass it as a variable: ["awk", "-v", "x=${args.x}", "{ print x }"]`,
		options: matchWord(`-e|--source|-i|--include|-l|--load|-f|--file|-E|--exec`), valueOptions: matchWord(`-F|-v|--assign|--field-separator`),
		from: 1, ignoreOperands: matchWord(`-e|--source|-f|--file|-E|--exec`), operandEnds: true,
	},
	{
		programs: matchWord(`g?sed`), what: "a sed script, which can run commands", fix: "find and replace in another way, such as awk with -v",
		options: matchWord(`-[nEsruz]*[ef]|--expression|--file`), from: 1, ignoreOperands: matchWord(`-[nEsruz]*[ef]|--expression|--file`),
	},
	{
		programs: matchWord(`sqlite|duckdb`), what: "SQL and sqlite3 commands, some of which start programs", fix: waySqlite, options: matchWord(`--?cmd|--?init|-[cs]`),
		valueOptions: matchWord(`--?(separator|nullvalue|newline|vfs)`), from: 2, to: -1, ignoreOperands: matchWord(`--?safe`), stdin: bare,
	},
	{programs: matchWord(`psql|mysql|mariadb|mongosh|mongo`), what: clientSQL, fix: waySQL, options: matchWord(`-[A-Za-z]*[cef]|--command|--execute|--eval|--file`), valueOptions: matchWord(`-[dhpUvPu]`), stdin: lines},
	{programs: matchWord(`ed|ex|dc|at|batch|crontab|gdb|gnuplot|ftp|telnet`), what: "commands, some of which start programs", options: matchWord(`-e|-ex|-c|-x`), stdin: lines},
	{programs: matchWord(`vi|vim|nvim|view|emacs`), what: "editor commands, some of which start programs", options: matchWord(`-c|-S|--cmd|--eval|-l|--load|-f|--funcall`)},
	{programs: matchWord(`g?make`), what: "a target or a variable, which can name programs", fix: wayChoice, options: matchWord(`--eval|-E|-f|--file|--makefile`), valueOptions: matchWord(`-[CjlIoW]`), from: 1, to: -1},
	{programs: matchWord(`ssh`), what: commandLine, fix: waySSH, options: matchWord(`-o|-F`), valueOptions: matchWord(`-[BbcDEeIiJLlmOpQRSWw]`), from: 2, to: -1, stdin: bare, launches: true},
	{programs: matchWord(`scp|sftp`), what: program, fix: wayProgram, options: matchWord(`-o|-S|-F|-D`)},
	{programs: matchWord(`rsync`), what: commandLine, fix: wayProgram, options: matchWord(`-[A-Za-z]*e|--rsh|--rsync-path`)},
	{
		programs: matchWord(`git`), what: "a git subcommand or option", fix: "write the subcommand, and pass args after it", options: matchWord(`-c|--exec-path|--config-env`), valueOptions: matchWord(`-C|--git-dir|--work-tree|--namespace`), from: 1,
		verbs: matchWord(`\S+ (--exec|--upload-pack|--receive-pack|--extcmd|--open-files-in-pager)|(rebase|difftool) -x|clone (-c|-u|--config)|grep -O|` +
			`bisect run|submodule foreach|filter-branch --\S+-filter|(config|foreach) \S+`),
	},
	{
		programs: matchWord(`(g|bsd)?tar`), what: "a program or the letters of tar's options", fix: wayProgram,
		options:      matchWord(`-I|-F|--use-compress-program|--to-command|--checkpoint-action|--rsh-command|--rmt-command|--info-script|--new-volume-script`),
		valueOptions: matchWord(`-[A-Za-z]*[fCTXbVg]`), from: 1, ignoreOperands: matchWord(`-.*`),
	},
	{programs: matchWord(`sort|split|zip|man|wget|nc|ncat|netcat`), what: program, fix: wayProgram, options: matchWord(`--compress-program|--filter|-TT|--unzip-command|-P|--pager|--use-askpass|--execute|-e|--exec|--sh-exec`)},
	{programs: matchWord(`socat`), what: "an address, which can name programs", fix: wayChoice, from: 1, to: -1},
	{programs: matchWord(`find`), what: program, fix: wayProgram, options: matchWord(`-exec|-execdir|-ok|-okdir`), launches: true},
	{programs: matchWord(`java`), what: program, fix: wayProgram, options: matchWord(`-jar|-cp|-classpath|--class-path|-javaagent`), valueOptions: matchWord(`-p|--module-path`), from: 1, operandEnds: true, endingOptions: matchWord(`-jar`)},
	{programs: matchWord(`go`), what: program, fix: wayProgram, options: matchWord(`-exec|-toolexec|-vettool`), from: 1, modes: matchWord(`run`)},
	{programs: matchWord(`su|runuser|script`), what: commandLine, options: matchWord(`-[A-Za-z]*c|--command`), launches: true},
	{programs: matchWord(`flock`), what: commandLine, options: matchWord(`-c|--command`), valueOptions: matchWord(`-w|-E|--wait|--timeout|--conflict-exit-code`), from: 2, launches: true},
	{programs: matchWord(`watch|parallel`), what: commandLine, valueOptions: matchWord(`-n|-j`), from: 1, to: -1, stdin: lines, launches: true},
	{programs: matchWord(`xargs`), what: "arguments of a program, where one value can become several", fix: wayProgram, valueOptions: matchWord(`-[IiLlnPsadE]`), from: 1, stdin: lines, launches: true},
	{programs: matchWord(`env`), what: program, fix: wayProgram, options: matchWord(`-[iv0]*S|--split-string`), valueOptions: matchWord(`-u|-C|--unset|--chdir`), from: 1, modes: matchWord(`-`), launches: true},
	{programs: matchWord(`timeout`), what: program, fix: wayProgram, valueOptions: matchWord(`-k|-s|--kill-after|--signal`), from: 2, launches: true},
	{programs: matchWord(`sudo|doas`), what: program, fix: wayProgram, valueOptions: matchWord(`-[ugpCrtTURDh]|--(user|group|prompt|role|type|other-user|chdir|chroot|host|close-from|command-timeout)`), from: 1, launches: true},
	{programs: matchWord(`nice|ionice`), what: program, fix: wayProgram, valueOptions: matchWord(`-[ncp]|--adjustment|--class|--classdata`), from: 1, launches: true},
	{programs: matchWord(`stdbuf|time`), what: program, fix: wayProgram, valueOptions: matchWord(`-[ioef]|--input|--output|--error|--format`), from: 1, launches: true},
	{programs: matchWord(`npx|bunx|uvx|pnpx`), what: program, fix: wayProgram, options: matchWord(`-c|--call|-p|--package|--from|--with`), valueOptions: matchWord(`-w|--workspace`), from: 1, launches: true},
	{programs: matchWord(`npm|pnpm|yarn|uv|pipx|poetry|cargo`), what: program, fix: wayProgram, valueOptions: matchWord(`-C|--prefix|--dir|--cwd|--directory`), from: 1, modes: matchWord(`run|run-script|exec|dlx|x|tool`), launches: true},
	{programs: matchWord(`nohup|setsid|busybox|toybox|chronic|unbuffer|gosu|pkexec|tini|dumb-init|xvfb-run`), what: program, fix: wayProgram, launches: true, modes: matchWord(`--?`), from: 1},
	{programs: matchWord(`chroot`), what: program, fix: wayProgram, from: 2, launches: true},
	{
		programs: matchWord(`docker|docker-compose|podman|nerdctl|kubectl|oc|crictl|nsenter|unshare|firejail|bwrap|strace|ltrace|systemd-run|taskset|numactl|chrt|prlimit|cpulimit|setpriv|su-exec|entr|tmux|screen|nix|nix-shell|wsl`),
		launches: true,
	},
}

// programName normalizes a program name for the table: it removes the folder, the version
// and Windows extensions, and ignores case, as some file systems do.
func programName(program string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimRight(name, "0123456789.-")
}

// runnerOf returns the runner with the program's name.
func runnerOf(program string) (runner, bool) {
	name := programName(program)
	for _, r := range runners {
		if r.programs.MatchString(name) {
			return r, true
		}
	}
	return runner{}, false
}

// controlVariables are environment variables that control which code a program runs.
var controlVariables = matchWord(`PATH|HOME|SHELL|IFS|ENV|PS4|BASH_.*|PROMPT_COMMAND|LD_.*|DYLD_.*|GCONV_PATH|PYTHON.*|NODE_(OPTIONS|PATH)|PERL5.*|RUBY(OPT|LIB)|LUA_.*|` +
	`JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|MAKEFLAGS|GIT_(SSH|SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|ASKPASS|CONFIG.*|EXEC_PATH|PROXY_COMMAND|DIR|WORK_TREE|TEMPLATE_DIR)|` +
	`SSH_ASKPASS|SUDO_ASKPASS|PAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|BROWSER|PEX_.*`)
