package dsl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/goldentest"
)

func TestFormat(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"keys take the language's order, and their comments go with them", `
kind: Agent
# at most
limits:
    max_replans: 2   # two
    # steps
    max_steps: 3
metadata: {name: x}
apiVersion: pex/v1
`, `
apiVersion: pex/v1
kind: Agent
metadata: {name: x}
# at most
limits:
  # steps
  max_steps: 3
  max_replans: 2   # two
`},
		{"a server, with its agents, limits and tokens", `
kind: Server
limits:
    per_tenant:
        runs_per_minute: 60
        concurrent_runs: 8
    concurrent_runs: 64
agents:
    refund:
        on_busy: reject
        roles:
            approve: [finance]
            run: [support]
        spec: specs/refund-desk
listen: 127.0.0.1:8484
apiVersion: pex/v1
`, `
apiVersion: pex/v1
kind: Server
listen: 127.0.0.1:8484
agents:
  refund:
    spec: specs/refund-desk
    roles:
      run: [support]
      approve: [finance]
    on_busy: reject
limits:
  concurrent_runs: 64
  per_tenant:
    concurrent_runs: 8
    runs_per_minute: 60
`},
		{"tokens", `
kind: Tokens
tokens:
- roles: [run]
  sha256: 0a
  name: ci
apiVersion: pex/v1
`, `
apiVersion: pex/v1
kind: Tokens
tokens:
  - name: ci
    sha256: 0a
    roles: [run]
`},
		{"a header stays on top", `
# The agent of the shop.

metadata: {name: x}
apiVersion: pex/v1
`, `
# The agent of the shop.

apiVersion: pex/v1
metadata: {name: x}
`},
		{"a block scalar keeps its text and moves as a whole", `
kind: Agent
planner:
    planner_prompt: |
        One.

          Two: # no comment
        ${parameters.question}
    llm: main
`, `
kind: Agent
planner:
  llm: main
  planner_prompt: |
    One.

      Two: # no comment
    ${parameters.question}
`},
		{"lists are indented below their key", `
kind: Agent
guards:
- when: 'run.replans > 2'
  do: stop
  name: g
  at: after_step
- {name: h}
`, `
kind: Agent
guards:
  - name: g
    at: after_step
    when: 'run.replans > 2'
    do: stop
  - {name: h}
`},
		{"empty lines are kept, but never two", `
kind: Agent


metadata:

  name: x


  version: "1"

llms:
  b: {}

  a: {}
`, `
kind: Agent

metadata:
  name: x

  version: "1"

llms:
  b: {}

  a: {}
`},
		{"names keep the author's order", `
kind: Agent
tools:
  zeta: {}
  alpha:
    argv: [ls]
    type: command
`, `
kind: Agent
tools:
  zeta: {}
  alpha:
    type: command
    argv: [ls]
`},
		{"a collection in braces keeps its lines", `
kind: Agent
llms:
    main: {
        provider: scripted,
        options: {replies: []}
    }
`, `
kind: Agent
llms:
  main: {
      provider: scripted,
      options: {replies: []}
  }
`},
		{"an explicit indentation is kept", `
kind: Agent
planner:
    planner_prompt: |2
          indented
      less
`, `
kind: Agent
planner:
  planner_prompt: |2
        indented
    less
`},
		{"comments at the end stay at the end", `
kind: Agent
limits:
    max_steps: 3
    # in limits
# of the file
`, `
kind: Agent
limits:
  max_steps: 3
  # in limits
# of the file
`},
		{"lists of lists", `
kind: Agent
x:
- - a
  - b
-
  - c
`, `
kind: Agent
x:
  - - a
    - b
  -
    - c
`},
		{"anchors are left alone", `
kind: Agent
llms:
    a: &a {provider: scripted}
    b: *a
`, `
kind: Agent
llms:
    a: &a {provider: scripted}
    b: *a
`},
		{"comments behind a block keep one empty line between them", `
kind: Agent
planner:
  llm: main
  retry:
    max_attempts: 2


  # one


  # two

limits: {max_steps: 3}
`, `
kind: Agent
planner:
  llm: main
  retry:
    max_attempts: 2

  # one

  # two

limits: {max_steps: 3}
`},
		{"blanks behind the last comment", "kind: Agent\nplanner:\n    retry:\n        max_attempts: 2\n    # last\n   \n", `kind: Agent
planner:
  retry:
    max_attempts: 2
  # last
`},
		{"line ends and trailing blanks", "kind: Agent   \r\nmetadata: {name: x}  \r\n\r\n", `kind: Agent
metadata: {name: x}
`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, found := dsl.Format([]byte(c.in))
			if len(found) > 0 {
				t.Fatal(found)
			}
			want := c.want
			if c.in[0] == '\n' && want[0] == '\n' && !bytes.HasPrefix(got, []byte("\n")) {
				want = want[1:]
			}
			if d := cmp.Diff(want, string(got)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			again, _ := dsl.Format(got)
			if !bytes.Equal(got, again) {
				t.Errorf("formatting again changes it:\n%s", again)
			}
		})
	}
}

func TestFormatReportsWhyItFails(t *testing.T) {
	src := []byte("a: [1\nb: 2\n")
	got, found := dsl.Format(src)
	if !found.Failed() || !bytes.Equal(src, got) {
		t.Errorf("got %q, %v", got, found)
	}
}

func FuzzFormat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		once, found := dsl.Format(src)
		if len(found) > 0 {
			return
		}
		twice, _ := dsl.Format(once)
		if !bytes.Equal(once, twice) {
			t.Errorf("once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}

// seeds adds all specs of the repository's tests. Tests with them run without
// -short only, because they use one goroutine.
func seeds(f *testing.F) {
	f.Helper()
	if testing.Short() {
		f.Skip("one goroutine at work: left to the runs without -short")
	}
	for _, pattern := range []string{"../testdata/vet/*.txtar", "../testdata/compile/*.txtar", "../testdata/contract/*/spec.yaml", "../specs/*/spec.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			if filepath.Ext(name) == ".txtar" {
				a := goldentest.Txtar(f, name)
				for _, file := range a.Names() {
					if filepath.Ext(file) == ".yaml" {
						f.Add([]byte(a.Input(f, file)))
					}
				}
				continue
			}
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add([]byte("kind: Agent\nlimits:\n    max_steps: 3 # x\n# end\n"))
}
