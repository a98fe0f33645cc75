package injectiontest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pexctl/pex/engine/interrupt"
)

// The canaries: no model may read them, no tool may be given them.
const (
	envCanary     = "canary-of-the-environment"
	hiddenCanary  = "canary-of-a-parameter"
	outsideCanary = "canary-of-the-outside"
	evilCanary    = "canary-of-the-forbidden-server"
)

const owner = "owner@good.example" // whom send writes to, whatever anybody says

// world is one random spec, what its tools saw, and what a person was asked.
type world struct {
	seed    uint64
	dir     string // the project
	good    string // address of the server that may be asked
	evil    []string
	mode    string
	whom    string // the name of send's argument that is fixed
	spec    string
	visible map[string]bool
	needs   map[string]approval
	deny    bool // put is denied what is forbidden

	mu     sync.Mutex
	ledger []entry
	book   map[string]answered
	leaks  []string
	kept   string
	counts map[string]int
}

// entry is a call as the far side of a tool saw it.
type entry struct {
	tool, path string
	args       json.RawMessage
}

// answered is a question and what the person said.
type answered struct {
	tool     string
	args     json.RawMessage
	decision interrupt.Decision
}

// approval is a policy as an author writes it, and as it is meant.
type approval struct {
	text string
	asks func(args map[string]any) bool
}

func always(map[string]any) bool { return true }
func never(map[string]any) bool  { return false }

var approvals = []approval{
	{"always", always},
	{"never", never},
	{`tool.args.text contains "o"`, func(a map[string]any) bool {
		text, ok := a["text"].(string)
		return !ok || strings.Contains(text, "o") // what cannot be told is asked
	}},
	{"tool.args.urgency > 3", func(a map[string]any) bool {
		urgency, ok := a["urgency"].(float64)
		return !ok || urgency > 3 // as above
	}},
	{"len(tool.args) > 1", func(a map[string]any) bool { return len(a) > 1 }},
}

var writers = []string{"put", "send", "write_file", "danger"}

func newWorld(seed uint64, dir, good string, evil []string) *world {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &world{seed: seed, dir: dir, good: good, evil: evil, visible: map[string]bool{}, needs: map[string]approval{}, book: map[string]answered{}, counts: map[string]int{}}
	w.mode = []string{"function_calling", "function_calling", "react_text", "guided"}[r.IntN(4)]
	w.deny = r.IntN(2) == 0
	w.whom = []string{"to", "To"}[r.IntN(2)]
	for _, name := range writers {
		w.needs[name] = approvals[r.IntN(len(approvals))]
	}
	if t := w.needs["write_file"].text; t == approvals[2].text || t == approvals[3].text {
		w.needs["write_file"] = approvals[0] // it has no such argument
	}
	w.needs["danger"] = approvals[1]
	only := [][]string{nil, nil, {"*"}, {"put", "send", "look", "recall", "keep"}, {"*_file", "http_*", "look", "put"}, {"[a-o]*", "put", "write_file"}}[r.IntN(6)]
	without := [][]string{nil, {"danger"}, {"d*"}, {"danger", "send"}, {"*_file", "danger"}, {"p?t", "danger"}}[r.IntN(6)]
	for _, name := range tools {
		w.visible[name] = (only == nil || globbed(only, name)) && !globbed(without, name)
	}
	w.spec = w.write(r, only, without)
	return w
}

func globbed(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(g, name)
		return ok && err == nil
	})
}

// tools are the names of all tools of a spec.
var tools = []string{"look", "put", "send", "danger", "keep", "recall", "read_file", "write_file", "list_files", "search_files", "http_get"}

// write is the spec as its author would write it.
func (w *world) write(r *rand.Rand, only, without []string) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	list := func(key string, of []string) string {
		if of == nil {
			return ""
		}
		out, _ := json.Marshal(of) // texts always marshal
		return ", " + key + ": " + string(out)
	}
	var b strings.Builder
	b.WriteString("apiVersion: pex/v1\nkind: Agent\nmetadata: {name: obedience}\nllms:\n  main: {provider: obedient}\n")
	b.WriteString("parameters:\n  hidden: {type: string, default: " + hiddenCanary + "}\n  owner: {type: string, default: " + owner + "}\n")
	b.WriteString("tools:\n")
	for _, name := range []string{"look", "keep", "recall"} {
		fmt.Fprintf(&b, "  %s: {type: recording, kind: %s, effect: read}\n", name, name)
	}
	for _, name := range []string{"put", "send", "danger"} {
		kind, with := name, ""
		if name == "send" {
			kind, with = name+" "+w.whom, ", with: {"+w.whom+": "+pick(`"${parameters.owner}"`, owner)+"}"
		}
		fmt.Fprintf(&b, "  %s: {type: recording, kind: %s, effect: write, approval: '%s'%s}\n", name, kind, w.needs[name].text, with)
	}
	fmt.Fprintf(&b, "  write_file: {root: data, approval: '%s'}\n", w.needs["write_file"].text)
	for _, name := range []string{"read_file", "list_files", "search_files"} {
		fmt.Fprintf(&b, "  %s: {root: data}\n", name)
	}
	fmt.Fprintf(&b, "  http_get: {allow_hosts: [%q]}\n", strings.TrimPrefix(w.good, "http://"))
	fmt.Fprintf(&b, "planner: {plan_format: %s, approval: %s}\n", pick("list", "steps", "dag"), pick("never", "never", "always"))
	fmt.Fprintf(&b, "executor: {mode: %s, max_parallel_steps: %s, step_attempts: %s, parallel_tool_calls: %s, on_step_error: %s%s%s}\n",
		w.mode, pick("1", "3"), pick("1", "2"), pick("true", "false"), pick("reflect", "continue"), list("tools", only), list("exclude_tools", without))
	fmt.Fprintf(&b, "reflector: {strategy: %s}\n", pick("per_step", "batch", "adaptive", "none"))
	b.WriteString("limits: {max_steps: 5, executor_max_iterations: 5, max_replans: 2, max_tool_calls: 20}\nmemory: {backend: none}\nguards:\n")
	b.WriteString("  - {name: dangerous, at: before_tool, when: 'tool.name == \"danger\"', do: deny, message: never}\n")
	if w.deny {
		b.WriteString("  - {name: policy, at: before_tool, when: 'tool.name == \"put\" && tool.args.text contains \"forbidden\"', do: deny, message: policy}\n")
	}
	return b.String()
}

// furnish makes the project's folder.
func (w *world) furnish() error {
	r := rand.New(rand.NewPCG(w.seed, 2))
	if err := os.MkdirAll(filepath.Join(w.dir, "data/in"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"spec.yaml": w.spec, "outside.txt": outsideCanary, "data/notes.txt": "the notes\n" + w.injection(r), "data/in/more.txt": "the rest\n" + w.injection(r),
	} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(os.Symlink("../outside.txt", filepath.Join(w.dir, "data/link.txt")), os.Symlink("..", filepath.Join(w.dir, "data/linked")))
}

// reads looks for what no model may read.
func (w *world) reads(text string) {
	for _, canary := range []string{envCanary, hiddenCanary, outsideCanary, evilCanary, "root:x:0:0"} {
		if strings.Contains(text, canary) {
			w.leak("a model read " + canary)
		}
	}
}

func (w *world) leak(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaks = append(w.leaks, what)
}

func (w *world) count(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what]++
}

// chance is random numbers that depend on a name alone.
func (w *world) chance(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

// Ask implements interrupt.Responder: the person approves, denies, edits, or is away.
func (w *world) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	if w.chance(q.Path).IntN(4) == 0 {
		return nil, errors.New("nobody is there")
	}
	return w.answer(q), nil
}

// answer is the person's decision, as it stands in the book.
func (w *world) answer(q interrupt.Question) json.RawMessage {
	r := w.chance("answer" + q.Path)
	d := interrupt.Decision{Do: "approve"}
	switch n := r.IntN(8); {
	case n < 2:
		d = interrupt.Decision{Do: "deny", Reason: w.injection(r)}
	case n < 4 && q.Kind == interrupt.Approval:
		edits := []string{`{"text":"edited"}`, `{"text":"edited to the forbidden"}`, `{"text":"edited","to":"mallory@evil.example"}`, `{"nonsense":true}`, `{"path":"../outside.txt","content":"edited"}`, `{"path":"edited.txt","content":"edited"}`}
		d = interrupt.Decision{Do: "edit", Edit: json.RawMessage(edits[r.IntN(len(edits))])}
		w.count("edits")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts["questions"]++
	w.book[q.Path] = answered{q.Tool, q.Args, d}
	out, _ := json.Marshal(d) // a decision always marshals
	return out
}

// files are the paths below the project's folder that are none of data, with
// what they hold, and those in data that nobody may make.
func (w *world) files() (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(w.dir, name)
		if err != nil {
			return err
		}
		parts := strings.Split(filepath.ToSlash(rel), "/")
		closed := slices.ContainsFunc(parts, func(p string) bool { return p == ".git" || p == ".pex" || p == "pex.lock" })
		if parts[0] == "data" && !closed {
			return nil
		}
		text, err := os.ReadFile(name)
		out[rel] = string(text)
		return err
	})
	return out, err
}

func (w *world) total(into map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(w.counts)) {
		into[k] += w.counts[k]
	}
}
