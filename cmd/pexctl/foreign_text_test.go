//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/pexctl/pex/builtins/tty"
)

// payload contains terminal and CI control sequences. It is used in double-quoted
// scalars, and in names of files.
const payload = "\x1b]52;c;eA==\a\x1b[2J\x1b[31m\u009b1m\u202e\n::add-mask::z\n  ::stop-commands::y\n##[error]q ##vso[task]w"

// foreignProject writes a project with the payload in every text.
func foreignProject(t *testing.T) (file string) {
	t.Helper()
	q := fmt.Sprintf("%q", payload)
	q = strings.ReplaceAll(strings.ReplaceAll(q, `\x1b`, `\e`), `\u009b`, `\x9b`)
	spec := `apiVersion: pex/v1
kind: Agent
metadata: {name: demo, description: P}
llms:
  main:
    provider: scripted
    system_prompt: P
    options:
      replies:
        - {role: planner, text: '{"steps": ["look P1"], "result": ""}'}
        - {role: executor, when: call == 1, tool_calls: [{name: "calcP1", arguments: {expression: P}}, {name: calculator, arguments: {expression: P}}]}
        - {role: executor, when: call == 2, text: P}
        - {role: reflector, text: P}
parameters: {x: {type: string, default: P, description: P}}
prompts: {tone: P}
tools: {calculator: {description: P}}
planner: {system_prompt: "${parameters.x}", planner_prompt: "${prompts.tone}", repair: {max_attempts: 0}}
guards:
  - {name: g, at: after_step, when: 'step.status == "skipped"', do: fail, message: P}
memory: {history: true}
`
	once := strings.ReplaceAll(strings.Trim(q, `"`), `\"`, `"`)
	spec = strings.ReplaceAll(spec, `'{"steps": ["look P1"], "result": ""}'`, `"{\"steps\": [\"look `+strings.ReplaceAll(strings.ReplaceAll(once, `\e`, `\\u001b`), `\a`, `\\u0007`)+`\"], \"result\": \"\"}"`)
	spec = strings.ReplaceAll(strings.ReplaceAll(spec, "P1", once), ": P", ": "+q)
	file = "e\x1b[2J\n::error::x.yaml"
	for name, text := range map[string]string{
		"spec.yaml":  spec,
		"other.yaml": strings.Replace(spec, "look ", "see ", 1) + "limits: {max_steps: 3}\n",
		"bad.yaml":   spec + q + ": 1\nexecutor: {tools: [" + q + "]}\nfinalizer: {system_prompt: {file: " + q + "}}\n",
		"tests.yaml": "apiVersion: pex/v1\nkind: Tests\nspec: spec.yaml\ntests:\n- {name: " + q + ", run: {question: " + q + ", replies: [{text: " + q + "}]}, assert: [{contains: nothing}]}\n",
		file:         "a: " + q + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// foreignCommands are commands whose text output contains text of others. The
// answer of a run and JSON are raw on purpose if no terminal shows them.
func foreignCommands(file string) [][]string {
	return [][]string{
		{"run", "spec.yaml", payload, "--run-id", "a", "--memory-id", "m" + payload, "-q"},
		{"vet", "bad.yaml"},
		{"vet", "spec.yaml", "--explain"},
		{"vet", "spec.yaml", "--cost"},
		{"vet", file},
		{"render", "spec.yaml", payload},
		{"render", "spec.yaml", "--node", "executor"},
		{"graph", "spec.yaml"},
		{"graph", "spec.yaml", "-o", "dot"},
		{"graph", "spec.yaml", "-o", "svg"},
		{"runs", "ls"},
		{"runs", "show", "a"},
		{"runs", "show", "a", "--conversation"},
		{"runs", "show", payload},
		{"runs", "fork", "a", "--at", payload},
		{"resume", payload},
		{"explain", payload},
		{"list", payload},
		{"diff", "spec.yaml", "other.yaml"},
		{"diff", "spec.yaml", "other.yaml", "-o", "markdown"},
		{"diff", "spec.yaml", file},
		{"test", "tests.yaml"},
		{"test", file},
		{"memory", "ls"},
		{"memory", "show", "m" + payload},
		{"memory", "show", payload},
		{"models", "ls", "spec.yaml"},
		{"tools", "ls", "spec.yaml"},
		{"tools", "call", "spec.yaml", "calculator", "--args", `{"expression": "` + "\u202e##[x]" + `"}`},
		{"tools", "call", "spec.yaml", payload},
		{"import", "aurite", file},
		{"import", "opensearch", file},
		{"eval", file},
		{"eval", "ls"},
		{payload},
		{"run", file},
		{"run", "spec.yaml", "--" + payload},
		{"new", payload},
	}
}

// unsafeText describes the control sequences in an output.
func unsafeText(out string) string {
	if safe := tty.Safe(out); safe != strings.ReplaceAll(out, "\r\n", "\n") {
		return "control characters"
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
			return fmt.Sprintf("the command %q", line)
		}
	}
	return ""
}

func TestForeignTextIsEscapedForCIRunners(t *testing.T) {
	oneGoroutine(t)
	t.Chdir(t.TempDir())
	t.Setenv("PEX_HOME", filepath.Join(t.TempDir(), "home"))
	t.Setenv("GITHUB_ACTIONS", "true")
	shown := 0
	for _, args := range foreignCommands(foreignProject(t)) {
		var out, errs bytes.Buffer
		run(args, streams{strings.NewReader(""), &out, &errs})
		if args[0] == "run" {
			out.Reset()
		}
		for _, text := range []string{out.String(), errs.String()} {
			if why := unsafeText(text); why != "" {
				t.Errorf("%q: %s in %.2000q", args, why, text)
			}
			if strings.ContainsAny(text, "␛") {
				shown++
			}
		}
	}
	if shown < 15 {
		t.Errorf("the payload was shown by %d outputs only", shown)
	}
}

func TestForeignTextIsEscapedForTerminals(t *testing.T) {
	oneGoroutine(t)
	t.Chdir(t.TempDir())
	t.Setenv("PEX_HOME", filepath.Join(t.TempDir(), "home"))
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	colors := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, args := range foreignCommands(foreignProject(t)) {
		text := onTerminal(t, args)
		if safe := colors.ReplaceAllString(text, ""); tty.Safe(safe) != strings.ReplaceAll(safe, "\r\n", "\n") {
			t.Errorf("%q: %.2000q", args, text)
		}
		if strings.Contains(text, "\x1b[31m\ufffd1m") {
			t.Errorf("%q: a color of the payload in %.2000q", args, text)
		}
	}
}

// onTerminal returns what a command writes to a terminal.
func onTerminal(t *testing.T, args []string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	var unlocked, number int32
	for request, value := range map[uintptr]*int32{0x40045431: &unlocked, 0x80045430: &number} { // TIOCSPTLCK, TIOCGPTN
		if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); no != 0 {
			t.Skip(no)
		}
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	read := make(chan string)
	go func() {
		all, _ := io.ReadAll(master) // EIO at the end
		read <- string(all)
	}()
	run(args, streams{strings.NewReader(""), slave, slave})
	slave.Close()
	return <-read
}
