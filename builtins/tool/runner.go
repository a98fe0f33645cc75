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

	wayOut     = `keep it fixed and pass args after it: ["sh", "-c", "echo \"$1\"", "sh", "${args.text}"]`
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

// whole matches exactly the given words.
func whole(options string) *words { return &words{text: `^(` + options + `)$`} }

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
		programs: whole(`r?bash|sh|dash|ash|zsh|m?ksh|oksh|yash|fish|t?csh|nu|xonsh|elvish`), what: script, options: whole(`--rcfile|--init-file|--command`),
		valueOptions: whole(`-o|\+o|-[A-Za-z]*o|-O|\+O`), from: 1, modes: whole(`\+[A-Za-z]+`), stdin: bare, stdinOptions: whole(`-[A-Za-z]*s`), operandEnds: true, inline: whole(`-[A-Za-z]*c`),
	},
	{
		programs: whole(`i?python|pypy`), what: script, options: whole(`-[A-Za-z]*[cm]`), valueOptions: whole(`-[WX]`), from: 1, stdin: bare,
		operandEnds: true, endingOptions: whole(`-[A-Za-z]*[cm]`), inline: whole(`-[A-Za-z]*c`),
	},
	{
		programs: whole(`node|nodejs`), what: script, options: whole(`-e|-p|-pe|-r|--eval|--print|--require|--import|--loader|--experimental-loader`),
		valueOptions: whole(`-C|--conditions|--env-file|--title`), from: 1, ignoreOperands: whole(`-e|-p|-pe|--eval|--print`), stdin: bare, operandEnds: true,
	},
	{
		programs: whole(`deno|bun`), what: script, options: whole(`-e|-p|-r|--eval|--print|--preload|--require|--import-map|eval`),
		valueOptions: whole(`-c|--config|--cwd|--env-file`), from: 1, ignoreOperands: whole(`-e|-p|--eval|--print`), modes: whole(`run|x|test|eval`), stdin: bare, operandEnds: true,
	},
	{programs: whole(`perl`), what: script, options: whole(`-[A-Za-z0-9]*[eEMm]`), valueOptions: whole(`-I`), from: 1, ignoreOperands: whole(`-[A-Za-z0-9]*[eE]`), stdin: bare, operandEnds: true},
	{
		programs: whole(`ruby|php|lua|luajit|rscript|julia|groovy|elixir|osascript|tclsh|expect|guile|racket|octave|scala|kotlin|ghc|raku`), what: script,
		options: whole(`-[A-Za-z]*[eErc]|--eval`), valueOptions: whole(`-I|-l`), from: 1, ignoreOperands: whole(`-[A-Za-z]*[eErc]|--eval`), stdin: bare, operandEnds: true,
	},
	{
		programs: whole(`pwsh|powershell`), what: script, fix: `write it to a file: ["pwsh", "-File", "script.ps1", "${args.text}"]`,
		options: whole(`(?i)-(c|command|e|ec|enc|encodedcommand|f|file)`), valueOptions: whole(`(?i)-(executionpolicy|ep|ex|version|workingdirectory|wd)`),
		from: 1, to: -1, stdin: bare, endingOptions: whole(`(?i)-(f|file)`),
	},
	{programs: whole(`cmd|command\.com`), what: "a Windows command line", fix: wayProgram, from: 1, to: -1, stdin: bare, launches: true},
	{
		programs: whole(`[gmn]?awk`), what: "an awk program", fix: `pass it as a variable: ["awk", "-v", "x=${args.x}", "{ print x }"]`,
		options: whole(`-e|--source|-i|--include|-l|--load|-f|--file|-E|--exec`), valueOptions: whole(`-F|-v|--assign|--field-separator`),
		from: 1, ignoreOperands: whole(`-e|--source|-f|--file|-E|--exec`), operandEnds: true,
	},
	{
		programs: whole(`g?sed`), what: "a sed script, which can run commands", fix: "find and replace in another way, such as awk with -v",
		options: whole(`-[nEsruz]*[ef]|--expression|--file`), from: 1, ignoreOperands: whole(`-[nEsruz]*[ef]|--expression|--file`),
	},
	{
		programs: whole(`sqlite|duckdb`), what: "SQL and sqlite3 commands, some of which start programs", fix: waySqlite, options: whole(`--?cmd|--?init|-[cs]`),
		valueOptions: whole(`--?(separator|nullvalue|newline|vfs)`), from: 2, to: -1, ignoreOperands: whole(`--?safe`), stdin: bare,
	},
	{programs: whole(`psql|mysql|mariadb|mongosh|mongo`), what: clientSQL, fix: waySQL, options: whole(`-[A-Za-z]*[cef]|--command|--execute|--eval|--file`), valueOptions: whole(`-[dhpUvPu]`), stdin: lines},
	{programs: whole(`ed|ex|dc|at|batch|crontab|gdb|gnuplot|ftp|telnet`), what: "commands, some of which start programs", options: whole(`-e|-ex|-c|-x`), stdin: lines},
	{programs: whole(`vi|vim|nvim|view|emacs`), what: "editor commands, some of which start programs", options: whole(`-c|-S|--cmd|--eval|-l|--load|-f|--funcall`)},
	{programs: whole(`g?make`), what: "a target or a variable, which can name programs", fix: wayChoice, options: whole(`--eval|-E|-f|--file|--makefile`), valueOptions: whole(`-[CjlIoW]`), from: 1, to: -1},
	{programs: whole(`ssh`), what: commandLine, fix: waySSH, options: whole(`-o|-F`), valueOptions: whole(`-[BbcDEeIiJLlmOpQRSWw]`), from: 2, to: -1, stdin: bare, launches: true},
	{programs: whole(`scp|sftp`), what: program, fix: wayProgram, options: whole(`-o|-S|-F|-D`)},
	{programs: whole(`rsync`), what: commandLine, fix: wayProgram, options: whole(`-[A-Za-z]*e|--rsh|--rsync-path`)},
	{
		programs: whole(`git`), what: "a git subcommand or option", fix: "write the subcommand, and pass args after it", options: whole(`-c|--exec-path|--config-env`), valueOptions: whole(`-C|--git-dir|--work-tree|--namespace`), from: 1,
		verbs: whole(`\S+ (--exec|--upload-pack|--receive-pack|--extcmd|--open-files-in-pager)|(rebase|difftool) -x|clone (-c|-u|--config)|grep -O|` +
			`bisect run|submodule foreach|filter-branch --\S+-filter|(config|foreach) \S+`),
	},
	{
		programs: whole(`(g|bsd)?tar`), what: "a program or the letters of tar's options", fix: wayProgram,
		options:      whole(`-I|-F|--use-compress-program|--to-command|--checkpoint-action|--rsh-command|--rmt-command|--info-script|--new-volume-script`),
		valueOptions: whole(`-[A-Za-z]*[fCTXbVg]`), from: 1, ignoreOperands: whole(`-.*`),
	},
	{programs: whole(`sort|split|zip|man|wget|nc|ncat|netcat`), what: program, fix: wayProgram, options: whole(`--compress-program|--filter|-TT|--unzip-command|-P|--pager|--use-askpass|--execute|-e|--exec|--sh-exec`)},
	{programs: whole(`socat`), what: "an address, which can name programs", fix: wayChoice, from: 1, to: -1},
	{programs: whole(`find`), what: program, fix: wayProgram, options: whole(`-exec|-execdir|-ok|-okdir`), launches: true},
	{programs: whole(`java`), what: program, fix: wayProgram, options: whole(`-jar|-cp|-classpath|--class-path|-javaagent`), valueOptions: whole(`-p|--module-path`), from: 1, operandEnds: true, endingOptions: whole(`-jar`)},
	{programs: whole(`go`), what: program, fix: wayProgram, options: whole(`-exec|-toolexec|-vettool`), from: 1, modes: whole(`run`)},
	{programs: whole(`su|runuser|script`), what: commandLine, options: whole(`-[A-Za-z]*c|--command`), launches: true},
	{programs: whole(`flock`), what: commandLine, options: whole(`-c|--command`), valueOptions: whole(`-w|-E|--wait|--timeout|--conflict-exit-code`), from: 2, launches: true},
	{programs: whole(`watch|parallel`), what: commandLine, valueOptions: whole(`-n|-j`), from: 1, to: -1, stdin: lines, launches: true},
	{programs: whole(`xargs`), what: "arguments of a program, where one value can become several", fix: wayProgram, valueOptions: whole(`-[IiLlnPsadE]`), from: 1, stdin: lines, launches: true},
	{programs: whole(`env`), what: program, fix: wayProgram, options: whole(`-[iv0]*S|--split-string`), valueOptions: whole(`-u|-C|--unset|--chdir`), from: 1, modes: whole(`-`), launches: true},
	{programs: whole(`timeout`), what: program, fix: wayProgram, valueOptions: whole(`-k|-s|--kill-after|--signal`), from: 2, launches: true},
	{programs: whole(`sudo|doas`), what: program, fix: wayProgram, valueOptions: whole(`-[ugpCrtTURDh]|--(user|group|prompt|role|type|other-user|chdir|chroot|host|close-from|command-timeout)`), from: 1, launches: true},
	{programs: whole(`nice|ionice`), what: program, fix: wayProgram, valueOptions: whole(`-[ncp]|--adjustment|--class|--classdata`), from: 1, launches: true},
	{programs: whole(`stdbuf|time`), what: program, fix: wayProgram, valueOptions: whole(`-[ioef]|--input|--output|--error|--format`), from: 1, launches: true},
	{programs: whole(`npx|bunx|uvx|pnpx`), what: program, fix: wayProgram, options: whole(`-c|--call|-p|--package|--from|--with`), valueOptions: whole(`-w|--workspace`), from: 1, launches: true},
	{programs: whole(`npm|pnpm|yarn|uv|pipx|poetry|cargo`), what: program, fix: wayProgram, valueOptions: whole(`-C|--prefix|--dir|--cwd|--directory`), from: 1, modes: whole(`run|run-script|exec|dlx|x|tool`), launches: true},
	{programs: whole(`nohup|setsid|busybox|toybox|chronic|unbuffer|gosu|pkexec|tini|dumb-init|xvfb-run`), what: program, fix: wayProgram, launches: true, modes: whole(`--?`), from: 1},
	{programs: whole(`chroot`), what: program, fix: wayProgram, from: 2, launches: true},
	{
		programs: whole(`docker|docker-compose|podman|nerdctl|kubectl|oc|crictl|nsenter|unshare|firejail|bwrap|strace|ltrace|systemd-run|taskset|numactl|chrt|prlimit|cpulimit|setpriv|su-exec|entr|tmux|screen|nix|nix-shell|wsl`),
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
var controlVariables = whole(`PATH|HOME|SHELL|IFS|ENV|PS4|BASH_.*|PROMPT_COMMAND|LD_.*|DYLD_.*|GCONV_PATH|PYTHON.*|NODE_(OPTIONS|PATH)|PERL5.*|RUBY(OPT|LIB)|LUA_.*|` +
	`JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|MAKEFLAGS|GIT_(SSH|SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|ASKPASS|CONFIG.*|EXEC_PATH|PROXY_COMMAND|DIR|WORK_TREE|TEMPLATE_DIR)|` +
	`SSH_ASKPASS|SUDO_ASKPASS|PAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|BROWSER|PEX_.*`)
