package dsl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
)

const lib = "apiVersion: pex/v1\nkind: Library\n"

// elsewhere returns a project that uses files of folders beside it.
func elsewhere() map[string]string {
	return map[string]string{
		"project/pex.lock":      "",
		"project/spec.yaml":     strings.Replace(head, "llms:\n", "include: [mine.yaml, ../shared/lib.yaml, ../shared/lib.yaml]\nllms:\n", 1),
		"project/own.yaml":      lib + "tools: {own: {type: calculator}}\n",
		"project/mine.yaml":     lib + "tools: {mine: {type: calculator}}\n",
		"project/tainted.yaml":  lib + "tools: {tainted: {type: calculator}}\n",
		"shared/lib.yaml":       lib + "include: [deep/lib.yaml, ../project/own.yaml, ../project/tainted.yaml]\nllms: {theirs: {provider: scripted}}\nprompts: {p: {file: prompt.md}}\n",
		"shared/deep/lib.yaml":  lib + "tools: {deep: {type: clock}, calculator: }\n",
		"shared/prompt.md":      "Be kind.",
		"shared/base.yaml":      head + "tools: {far: {type: command, argv: [x], effect: read, env: {PATH: /theirs}}}\nplanner: {temperature: 0.5}\n",
		"shared/schema.json":    `{"type": "object"}`,
		"shared/spec.yaml":      head + "tools: {clock: {}}\nplanner: {temperature: 0.5}\n",
		"more/deeper/spec.yaml": head + "tools: {again: {type: agent, ref: ../../shared/spec.yaml}}\n",
	}
}

func TestForeignIsWhatOtherFoldersDefine(t *testing.T) {
	cases := []struct {
		name  string
		spec  string // after the head
		set   []string
		files []string
		parts []string // file and path
	}{
		{
			name: "libraries, and what they lead to", spec: "include: [own.yaml, ../shared/lib.yaml]\nplanner: {llm: main}\n",
			files: []string{"../shared/lib.yaml", "../shared/deep/lib.yaml", "own.yaml", "tainted.yaml", "../shared/prompt.md"},
			parts: []string{"shared/deep/lib.yaml tools.deep", "shared/deep/lib.yaml tools.calculator", "tainted.yaml tools.tainted", "shared/lib.yaml llms.theirs"},
		},
		{
			name: "a role over an llm of others", spec: "include: [../shared/lib.yaml]\nplanner: {llm: theirs, temperature: 0.1}\n", set: []string{"tools.deep.description=Deep."},
			files: []string{"../shared/lib.yaml", "../shared/deep/lib.yaml", "own.yaml", "tainted.yaml", "../shared/prompt.md"},
			parts: []string{
				"shared/deep/lib.yaml tools.deep", "shared/deep/lib.yaml tools.calculator", "own.yaml tools.own", "tainted.yaml tools.tainted",
				"shared/lib.yaml llms.theirs", "shared/lib.yaml llms.theirs+planner",
			},
		},
		{
			name: "texts and schemas define nothing", spec: "planner: {system_prompt: {file: ../shared/prompt.md}}\noutput: {schema: {file: ../shared/schema.json}}\n",
			files: []string{"../shared/schema.json", "../shared/prompt.md"},
		},
		{
			name: "an agent, with all that it has", spec: "tools: {helper: {type: agent, ref: ../shared}}\n",
			files: []string{"../shared/spec.yaml"},
			parts: []string{"shared/spec.yaml tools.clock", "shared/spec.yaml llms.main", "shared/spec.yaml llms.main+planner"},
		},
		{
			name: "agents of agents, and of roles", spec: "executor: {agent: ../more/deeper/spec.yaml}\n",
			files: []string{"../more/deeper/spec.yaml", "../shared/spec.yaml"},
			parts: []string{
				"shared/spec.yaml tools.clock", "shared/spec.yaml llms.main", "shared/spec.yaml llms.main+planner",
				"more/deeper/spec.yaml tools.again", "more/deeper/spec.yaml llms.main",
			},
		},
		{
			name: "a base, below all that is said over it", spec: "extends: ../shared/base.yaml\ntools: {far: {type: command, argv: [far], effect: read, env: {A: b}, input_schema: {type: object}}, near: {type: command, argv: [near], effect: read}}\n",
			files: []string{"../shared/base.yaml"},
			parts: []string{"shared/base.yaml tools.far", "shared/base.yaml llms.main+planner"},
		},
		{name: "its own", spec: "include: [own.yaml]\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := elsewhere()
			files["project/spec.yaml"] = head + c.spec
			write(t, files)
			_, spec, found := dsl.Compile("project/spec.yaml", dsl.Options{Catalog: catalog, Set: c.set, AllowPaths: []string{"shared", "more"}})
			if found.Failed() {
				t.Fatal(found)
			}
			var paths, parts []string
			for _, f := range spec.Foreign.Files {
				paths = append(paths, f.Path)
			}
			for _, p := range spec.Foreign.Parts {
				parts = append(parts, strings.TrimPrefix(p.File, "project/")+" "+p.Path)
				if (p.Tool == nil) == (p.Model == nil) || len(p.Source) == 0 {
					t.Errorf("%s is neither a tool nor an llm, or both: %+v", p.Path, p)
				}
			}
			if diff := cmp.Diff(c.files, paths); diff != "" {
				t.Error("files", diff)
			}
			if diff := cmp.Diff(c.parts, parts); diff != "" {
				t.Error("parts", diff)
			}
		})
	}
}

// The digest does not depend on where the project is, and changes with any file
// read from outside the project, but with nothing else.
func TestForeignDigestIsOfEveryByte(t *testing.T) {
	digest := func(change func()) string {
		write(t, elsewhere())
		change()
		_, spec, found := dsl.Compile("project/spec.yaml", dsl.Options{Catalog: catalog, AllowPaths: []string{"shared"}, Set: []string{"planner.llm=main"}})
		if found.Failed() {
			t.Fatal(found)
		}
		return spec.Foreign.Digest()
	}
	grow := func(name string) func() {
		return func() {
			b, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, append(b, '\n'), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	was := digest(func() {})
	for name, changes := range map[string]bool{
		"shared/lib.yaml": true, "shared/deep/lib.yaml": true, "shared/prompt.md": true, "project/tainted.yaml": true,
		"project/own.yaml": true, "project/mine.yaml": false, "project/spec.yaml": false, "shared/spec.yaml": false,
	} {
		if got := digest(grow(name)); (got != was) != changes {
			t.Errorf("%s: changes %t, want %t", name, got != was, changes)
		}
	}
	if none := (&specfs.Foreign{}).Digest(); none != "" {
		t.Errorf("no files have the digest %s", none)
	}
}

func TestFilesOutsideTheRootRequireAllowPath(t *testing.T) {
	cases := []struct {
		name, spec, links string // links: name and target
		allow             []string
		want              string
	}{
		{"nothing is opened", "include: [../shared/lib.yaml]\n", "", nil, "../shared/lib.yaml is outside the project"},
		{"another is", "tools: {x: {type: agent, ref: ../shared/spec.yaml}}\n", "", []string{"more"}, "../shared/spec.yaml is outside the project"},
		{"one that there is not", "include: [../shared/lib.yaml]\n", "", []string{"nowhere"}, "../shared/lib.yaml is outside the project"},
		{"a name that only begins alike", "include: [../shared/lib.yaml]\n", "", []string{"share"}, "is outside the project"},
		{"an absolute path", "include: [/etc/passwd]\n", "", []string{"/"}, "the path /etc/passwd is absolute"},
		{"a link in the project", "include: [link.yaml]\n", "project/link.yaml ../shared/deep/lib.yaml", []string{"shared"}, "link.yaml is outside the project: a symbolic link leads out of it"},
		{"a folder that is a link", "include: [link/deep/lib.yaml]\n", "project/link ../shared", []string{"shared"}, "a symbolic link leads out of it"},
		{"a link out of what is opened", "include: [../shared/link.yaml]\n", "shared/link.yaml ../more/lib.yaml", []string{"shared"}, "a symbolic link leads out of it"},
		{"one that leads on", "include: [../shared/deep/lib.yaml]\n", "", []string{"shared/deep"}, ""},
		{"one that leads back out", "include: [../shared/lib.yaml]\n", "", []string{"shared/lib.yaml"}, "../shared/lib.yaml"},
		{"opened by a link", "include: [../shared/deep/lib.yaml]\n", "alias shared", []string{"alias"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := elsewhere()
			files["project/spec.yaml"] = head + c.spec
			files["more/lib.yaml"], files["share/x"] = lib, ""
			write(t, files)
			if name, target, ok := strings.Cut(c.links, " "); ok {
				if err := os.Symlink(target, name); err != nil {
					t.Fatal(err)
				}
			}
			_, _, found := dsl.Compile("project/spec.yaml", dsl.Options{Catalog: catalog, AllowPaths: c.allow})
			if c.want == "" && found.Failed() || !strings.Contains(found.String(), c.want) {
				t.Errorf("found %s\nwant %q", found, c.want)
			}
		})
	}
}
