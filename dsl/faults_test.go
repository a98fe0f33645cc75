package dsl_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// pickyConfig is a provider's Config with many faults.
type pickyConfig struct {
	Effort  string                        `yaml:"reasoning_effort" enum:"low|high" doc:"How much it thinks."`
	Headers map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers."`
	File    string                        `yaml:"file" path:"file" doc:"The recording."`
	Files   []string                      `yaml:"files" path:"file" doc:"Further ones."`
}

// Check implements component.Checker.
func (c *pickyConfig) Check(s model.Settings) (out component.Faults) {
	if s.BaseURL == "" && c.File == "" {
		out = append(out, component.Fault{At: "/base_url", Message: "there is no base_url", Hint: "write one"})
	}
	if strings.HasPrefix(s.BaseURL, "ftp:") {
		out = append(out, component.Fault{At: "/base_url", Message: "ftp is no web"})
	}
	if c.Effort == "high" && s.Model == "small" {
		out = append(out, component.Fault{At: "/options/reasoning_effort", Message: "small cannot think so much", Hint: "write low"})
	}
	for name := range c.Headers {
		if strings.Contains(name, " ") {
			out = append(out, component.Fault{At: "/options/headers/" + strings.ReplaceAll(name, "/", "~1"), Message: "headers have no blanks"})
		}
	}
	return out
}

type pickyToolConfig struct {
	Root string `yaml:"root" doc:"The folder."`
}

func picky() engine.Catalog {
	c := catalog
	c.Models = append(slices.Clip(c.Models), provider[pickyConfig]("picky"))
	c.Tools = append(slices.Clip(c.Tools), component.New("picky", "A tool.", func() pickyToolConfig { return pickyToolConfig{} },
		func(c *pickyToolConfig, _ tool.Settings) (tool.Tool, error) {
			return nil, component.Faults{{At: "/root", Message: c.Root + " is nowhere", Hint: "write ."}, {At: "/exclude", Message: "nothing is left out"}}
		}))
	return c
}

func TestFaultsOfComponentsHavePositions(t *testing.T) {
	goldentest.Each(t, "../testdata/faults/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		home, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		o := unpack(t, a)
		o.Catalog = picky()
		_, found := dsl.Load("spec.yaml", o)
		t.Chdir(home)
		a.Want(t, "diagnostics", found.String())
	})
}

// Compiling the program of a resumed run does not need its files.
func TestRecompileReadsNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"spec.yaml":  "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: demo}\nllms: {main: {provider: picky, options: {file: tape.jsonl}}}\n",
		"tape.jsonl": "{}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := dsl.Options{Catalog: picky()}
	p, spec, found := dsl.Compile("spec.yaml", o)
	if found.Failed() || !slices.ContainsFunc(spec.Files, func(f string) bool { return strings.HasSuffix(f, "tape.jsonl") }) {
		t.Fatal(found, spec.Files)
	}
	if err := os.Remove("tape.jsonl"); err != nil {
		t.Fatal(err)
	}
	if _, found := dsl.Recompile(p.Source, ".", o); found.Failed() {
		t.Error(found)
	}
	if _, _, found := dsl.Compile("spec.yaml", o); len(found) != 1 || found[0].Code != diag.Unreadable {
		t.Error(found)
	}
}

func TestOpenedFolderIsListed(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/tape.jsonl", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	spec := "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: demo}\nllms: {main: {provider: picky, options: {file: " + outside + "/tape.jsonl}}}\n"
	if err := os.WriteFile("spec.yaml", []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: picky(), AllowPaths: []string{outside}}); found.Failed() {
		t.Error(found)
	}
	_, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: picky()})
	if len(found) != 1 || found[0].Code != diag.OutsideRoot || !strings.Contains(found[0].Hint, "allow a directory outside it with --allow-path") {
		t.Error(found)
	}
}
