//go:build unix

package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// hostileValues returns values with a special meaning to a shell, a program, a template
// or a terminal.
func hostileValues() []string {
	return []string{
		"", " ", "a b", "a\tb", "a\nb", "a\r\nb", "; rm -rf /", "| cat", "& sleep 1", "&& true", "|| true", "$(id)", "`id`", "$HOME", "${HOME}", "${env.SECRET}", "${args.b}",
		"$<args.b>", "${parameters.p}", "$${args.b}", "$$<args.b>", "${IFS}", "'", `"`, `'"'"'`, `\`, `\\`, `\n`, "*", "?", "[a-z]", "~", "~root", "!!", "#x", "%s%n", "%2e%2e", "{a,b}", "<in", ">out", "2>&1",
		"@file", "@/etc/passwd", "+x", "/dev/stdin", "=x", "a=b", "{{ .Secret }}", "{% include 'x' %}", "<!-- x -->",
		"ünïcödé", "\u202e\u200b", "\u202etxt.exe", "\x1b]52;c;x\x07", "\u009b2J", "\x7f", "\x01", "\r", strings.Repeat("x", 20_000), `{"json": [1, 2]}`, "\ufeffx", "\U000e0041\U000e0042",
	}
}

// dashed returns values that a program could parse as options.
func dashed() []string {
	return []string{"-", "--", "-o", "-rf", "-e", "--output=/etc/passwd", "--end-of-options", "-oProxyCommand=id", "--upload-pack=id", "-- -x", "-\n", "-1", "-x", "-\u202e"}
}

// Every value arrives unchanged as a single argv element, wherever the author uses it.
// One child process receives all of them.
func TestEachValueIsOneArgument(t *testing.T) {
	cmd := recorder(t, "all", func(c *builtintool.CommandConfig) {
		c.Stdin, c.Env["VALUE"] = template(t, "${args.a}"), template(t, "${args.a}")
	}, "${args.b}", "--to", "${args.b}", "${args.b}.txt", "--to=${args.a}", "pre-$<args.a>-post", "${args.c:-none}", "--", "x", "${args.a}", "last")
	for _, value := range append(hostileValues(), dashed()...) {
		first := value
		if strings.HasPrefix(value, "-") {
			first = "x" // rejected at this position: see below
		}
		var got []string
		if err := json.Unmarshal([]byte(text(t, cmd, args{"a": value, "b": first})), &got); err != nil {
			t.Fatal(err)
		}
		want := []string{first, "--to", first, first + ".txt", "--to=" + value, "pre-" + value + "-post", "none", "--", "x", value, "last", "stdin", value, "VALUE", value}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40q:\n%s", value, diff)
		}
	}
	fails(t, cmd, args{"a": "x\x00y", "b": ""}, "has a NUL byte")
	fails(t, cmd, args{"a": "", "b": "x\x00y"}, "has a NUL byte")
}

// A long text is one argument too. Longer texts, and bytes that argv cannot contain, go
// through stdin.
func TestStdinAcceptsAnyText(t *testing.T) {
	cmd := recorder(t, "all", func(c *builtintool.CommandConfig) { c.Stdin = template(t, "${args.a}") })
	one := strings.Repeat("x", 100_000)
	if got := text(t, recorder(t, "record", nil, "${args.a}"), args{"a": one}); got != `["`+one+`"]` {
		t.Errorf("%d bytes became %d", len(one), len(got))
	}
	for _, value := range []string{strings.Repeat("long ", 40_000), "x\x00y", "-x"} {
		var got []string
		if err := json.Unmarshal([]byte(text(t, cmd, args{"a": value})), &got); err != nil || len(got) != 4 || got[1] != value {
			t.Errorf("%d bytes became %.80q, %v", len(value), got, err)
		}
	}
}

func TestLeadingDashIsRejectedIfItCouldBeAnOption(t *testing.T) {
	for _, argv := range [][]string{{"first", "${args.a}", "last"}, {"--to", "${args.a}"}, {"${args.a}.txt"}, {"x", "$<args.a>", "--"}} {
		cmd := recorder(t, "record", nil, argv...)
		for _, value := range dashed() {
			fails(t, cmd, args{"a": value}, "starts with a dash")
		}
	}
	cmd := recorder(t, "record", func(c *builtintool.CommandConfig) { c.AllowDash = true }, "${args.a}")
	if got := text(t, cmd, args{"a": "-x"}); got != `["-x"]` {
		t.Error(got)
	}
}

func TestLeadingDashIsAllowedIfDeclared(t *testing.T) {
	schema := func(of string) func(*builtintool.CommandConfig) {
		return func(c *builtintool.CommandConfig) {
			c.InputSchema = component.SchemaRef{JSON: json.RawMessage(`{"type":"object","properties":{"a":` + of + `,"b":{}}}`)}
		}
	}
	tests := []struct {
		name  string
		edit  func(*builtintool.CommandConfig)
		argv  []string
		args  args
		taken bool
	}{
		{"a number", nil, []string{"${args.a}"}, args{"a": -5}, true},
		{"a number as text", nil, []string{"${args.a}"}, args{"a": "-5"}, false},
		{"the author's default", nil, []string{"${args.a:--v}"}, args{}, true},
		{"a value in the default's place", nil, []string{"${args.a:--v}"}, args{"a": "-x"}, false},
		{"declared as a number", schema(`{"type":"number"}`), []string{"${args.a}"}, args{"a": "-5"}, true},
		{"declared by enum", schema(`{"enum":["-a","-b"]}`), []string{"${args.a}"}, args{"a": "-a"}, true},
		{"declared by pattern", schema(`{"type":"string","pattern":"^-[ab]$"}`), []string{"${args.a}"}, args{"a": "-a"}, true},
		{"a pattern of any part", schema(`{"type":"string","pattern":"[ab]"}`), []string{"${args.a}"}, args{"a": "-a"}, false},
		{"declared as text", schema(`{"type":"string"}`), []string{"${args.a}"}, args{"a": "-a"}, false},
		{"one of two declared", schema(`{"type":"number"}`), []string{"${args.a}${args.b}"}, args{"a": "", "b": "-x"}, false},
		{"behind an empty value", nil, []string{"${args.a}${args.b}"}, args{"a": "", "b": "-x"}, false},
		{"a dash of the author's that a value bares", nil, []string{"${args.a}-x"}, args{"a": ""}, false},
		{"of an object", nil, []string{"${args.a.b}"}, args{"a": args{"b": "-x"}}, false},
		{"of a list", nil, []string{"${args.a[0]}"}, args{"a": []string{"-x"}}, false},
		{"trimmed", nil, []string{"${args.a|trim}"}, args{"a": " -x"}, false},
		{"as JSON", nil, []string{"${args.a|json}"}, args{"a": "-x"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := recorder(t, "record", tt.edit, tt.argv...)
			if out, err := call(t, cmd, tt.args); (err == nil) != tt.taken {
				t.Errorf("%v gave %+v, %v", tt.args, out, err)
			}
		})
	}
}

// If the program starts another one, "--" may only end the options of the first. Scripts
// receive their arguments unchanged.
func TestLeadingDashAfterLaunchersAndScripts(t *testing.T) {
	tests := []struct {
		name  string
		argv  []string
		taken bool
	}{
		{"the launcher's", []string{"env", "--", "echo", "${args.a}"}, false},
		{"the program's", []string{"env", "echo", "--", "${args.a}"}, true},
		{"of a script in argv", []string{"sh", "-c", `printf %s "$1"`, "sh", "${args.a}"}, true},
		{"of a module", []string{"python3", "-m", "json.tool", "${args.a}"}, false},
		{"of a script in a file", []string{"sh", "./script.sh", "${args.a}"}, false},
		{"of the shell", []string{"sh", "${args.a}", "x"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tool.Settings{Dir: plant(t, "script.sh", `printf %s "$1"`), Env: machine}
			cmd, err := try(builtintool.Command, s, func(c *builtintool.CommandConfig) { c.Argv = templates(t, tt.argv...) })
			if err == nil {
				_, err = call(t, cmd, args{"a": "-x"})
			}
			if (err == nil) != tt.taken {
				t.Error(err)
			}
		})
	}
}

func TestModelCannotChooseTheProgram(t *testing.T) {
	tests := []struct {
		name string
		argv []string
		want string // "" = accepted
	}{
		{"no program", nil, "argv must name a program"},
		{"program by the model", []string{"${args.x}"}, "the model would choose the program"},
		{"program below a folder by the model", []string{"bin/$<args.x>"}, "the model would choose the program"},
		{"script by the model", []string{"sh", "-c", "echo ${args.x}"}, "argv[2] is a script"},
		{"script with several values", []string{"sh", "-c", "${args.b} ${args.a} $<args.b>"}, "argv[2] is a script: the values of ${args.b}, ${args.a} would run as code"},
		{"script with options", []string{"/bin/bash", "-euo", "pipefail", "-lc", "echo ${args.x}"}, "argv[4] is a script"},
		{"script of a login shell", []string{"bash", "-lc", "${args.x}"}, "argv[2] is a script"},
		{"script behind a launcher", []string{"timeout", "5", "sh", "-c", "x ${args.x}"}, "argv[4] is a script"},
		{"script behind two", []string{"env", "A=1", "nice", "-n", "5", "bash", "-c", "${args.x}"}, "argv[7] is a script"},
		{"script that env splits", []string{"env", "-S", "sh -c ${args.x}"}, "argv[2] is a program"},
		{"script that env splits, attached", []string{"env", "--split-string=sh -c ${args.x}"}, "argv[1] is a program"},
		{"script behind find", []string{"find", ".", "-exec", "sh", "-c", "${args.x}", ";"}, "argv[5] is a script"},
		{"program behind find", []string{"find", ".", "-exec", "${args.x}", "{}", ";"}, "argv[3] is a program"},
		{"script behind xargs", []string{"xargs", "-n", "1", "sh", "-c", "${args.x}"}, "argv[5] is a script"},
		{"program behind xargs", []string{"xargs", "-n", "1", "${args.x}"}, "argv[3] is"},
		{"script in a container", []string{"docker", "run", "--rm", "img", "sh", "-c", "${args.x}"}, "argv[6] is a script"},
		{"program behind env", []string{"env", "A=1", "${args.x}"}, "argv[2] is a program"},
		{"program behind timeout", []string{"timeout", "-k", "1", "5", "${args.x}"}, "argv[4] is a program"},
		{"program behind sudo", []string{"sudo", "-u", "bob", "${args.x}"}, "argv[3] is a program"},
		{"program of busybox", []string{"busybox", "${args.x}"}, "argv[1] is a program"},
		{"variable of env", []string{"env", "LD_PRELOAD=${args.x}", "true"}, "argv[1] is"},
		{"file of a shell", []string{"sh", "${args.x}"}, "argv[1] is a script"},
		{"file of python", []string{"python3", "-u", "${args.x}"}, "argv[2] is a script"},
		{"module of python", []string{"python3", "-m", "${args.x}"}, "argv[2] is a script"},
		{"python", []string{"python3.12", "-c", "print(${args.x})"}, "is a script"},
		{"python, attached", []string{"python3", "-cprint(${args.x})"}, "argv[1] is a script"},
		{"node", []string{"node", "-e", "${args.x}"}, "is a script"},
		{"node, attached", []string{"node", "--eval=${args.x}"}, "argv[1] is a script"},
		{"node's modules", []string{"node", "--require", "${args.x}", "a.js"}, "argv[2] is a script"},
		{"perl", []string{"perl", "-ne", "${args.x}"}, "is a script"},
		{"perl, attached", []string{"perl", "-e${args.x}"}, "argv[1] is a script"},
		{"awk", []string{"awk", "-F", ",", "${args.x}", "f.csv"}, "argv[3] is an awk program"},
		{"part of awk", []string{"gawk", "{ print NR + ${args.n} }"}, "argv[1] is an awk program"},
		{"sed", []string{"sed", "-n", "s/${args.a}/${args.b}/p", "f"}, "argv[2] is a sed script"},
		{"sed -e", []string{"sed", "-ne", "${args.a}p", "f"}, "argv[2] is a sed script"},
		{"sqlite3", []string{"sqlite3", "-json", "a.db", "${args.sql}"}, "argv[3] is SQL"},
		{"psql", []string{"psql", "-c", "${args.sql}"}, "argv[2] is SQL"},
		{"make", []string{"make", "-C", "x", "${args.target}"}, "argv[3] is a target or a variable"},
		{"ssh", []string{"ssh", "-p", "22", "host", "ls", "${args.dir}"}, "argv[5] is a command line"},
		{"ssh's options", []string{"ssh", "-o", "${args.x}", "host"}, "argv[2] is a command line"},
		{"git -c", []string{"git", "-c", "core.pager=${args.x}", "log"}, "argv[2] is a git subcommand or option"},
		{"git's commands", []string{"git", "-C", "x", "${args.x}"}, "argv[3] is a git subcommand or option"},
		{"tar's programs", []string{"tar", "-x", "--checkpoint-action=exec=${args.x}"}, "argv[2] is"},
		{"tar's letters", []string{"tar", "${args.x}", "a.tar"}, "argv[1] is"},
		{"su", []string{"su", "bob", "-c", "${args.x}"}, "argv[3] is a command line"},
		{"watch", []string{"watch", "-n", "1", "ls", "${args.x}"}, "argv[4] is a command line"},

		{"behind the script", []string{"sh", "-c", "echo \"$1\"", "sh", "${args.x}"}, ""},
		{"behind the file", []string{"sh", "refund.sh", "${args.x}"}, ""},
		{"behind the module", []string{"python3", "-m", "json.tool", "${args.x}"}, ""},
		{"program by a parameter", []string{"${parameters.x}"}, ""},
		{"option of another program", []string{"grep", "-c", "${args.x}"}, ""},
		{"word of another program", []string{"grep", "sh", "-c", "${args.x}"}, ""},
		{"awk's variables and files", []string{"awk", "-v", "x=${args.x}", "{ print x }", "${args.file}"}, ""},
		{"awk's file", []string{"awk", "-f", "a.awk", "${args.file}"}, ""},
		{"sed's files", []string{"sed", "-n", "1,5p", "${args.file}"}, ""},
		{"sed's files behind -e", []string{"sed", "-e", "1p", "${args.file}"}, ""},
		{"jq", []string{"jq", "${args.x}", "f.json"}, ""},
		{"sqlite3 -safe", []string{"sqlite3", "-safe", "a.db", "${args.sql}"}, ""},
		{"the host of ssh", []string{"ssh", "${args.host}", "uptime"}, ""},
		{"arguments behind a launcher", []string{"timeout", "5", "grep", "${args.x}"}, ""},
		{"arguments of git", []string{"git", "log", "--grep=${args.x}"}, ""},
		{"files of tar", []string{"tar", "-xf", "${args.x}"}, ""},
		{"a plain variable of env", []string{"env", "A=${args.x}", "true"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := try(builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) { c.Argv = templates(t, tt.argv...) })
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestModelCannotWriteCodeToStdin(t *testing.T) {
	tests := []struct {
		name  string
		argv  []string
		taken bool
	}{
		{"a shell", []string{"sh"}, false},
		{"a shell that says so", []string{"sh", "-s"}, false},
		{"a shell behind a launcher", []string{"timeout", "5", "bash"}, false},
		{"python by a dash", []string{"python3", "-"}, false},
		{"node", []string{"node"}, false},
		{"sqlite3", []string{"sqlite3", "a.db"}, false},
		{"psql", []string{"psql"}, false},
		{"xargs", []string{"xargs", "rm"}, false},
		{"a shell elsewhere", []string{"ssh", "host", "sh"}, false},
		{"a script in argv", []string{"sh", "-c", "cat"}, true},
		{"a script in a file", []string{"python3", "a.py"}, true},
		{"a module", []string{"python3", "-m", "json.tool"}, true},
		{"a program", []string{"cat"}, true},
		{"awk", []string{"awk", "{ print }"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := try(builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) {
				c.Argv, c.Stdin = templates(t, tt.argv...), template(t, "x = ${args.x}")
			})
			if (err == nil) != tt.taken || err != nil && !strings.Contains(err.Error(), "from stdin") {
				t.Error(err)
			}
		})
	}
}

func TestModelCannotSetVariablesThatControlPrograms(t *testing.T) {
	for name, taken := range map[string]bool{
		"PATH": false, "HOME": false, "LD_PRELOAD": false, "BASH_ENV": false, "ENV": false, "PYTHONPATH": false, "NODE_OPTIONS": false, "PERL5OPT": false, "GIT_SSH_COMMAND": false,
		"GIT_CONFIG_COUNT": false, "PAGER": false, "EDITOR": false, "PEX_CALL": false, "DYLD_INSERT_LIBRARIES": false,
		"TITLE": true, "GIT_AUTHOR_NAME": true, "MY_PATH": true, "LANG": true,
	} {
		_, err := try(builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) {
			c.Argv, c.Env = templates(t, "true"), map[string]component.Template{name: template(t, "x${args.x}")}
		})
		if (err == nil) != taken {
			t.Errorf("%s: %v", name, err)
		}
		_, err = try(builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) {
			c.Argv, c.Env = templates(t, "true"), map[string]component.Template{name: template(t, "${parameters.x}")}
		})
		if err != nil {
			t.Errorf("%s by the author: %v", name, err)
		}
	}
}
