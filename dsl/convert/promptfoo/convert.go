package promptfoo

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// Convert converts a configuration. Files that it refers to are read from its
// folder; others is empty.
func Convert(in convert.Input, others ...convert.Input) (convert.Result, error) {
	roots, notes, err := tree.ReadAny(in)
	if err != nil {
		return convert.Result{}, err
	}
	root := roots[0]
	if tree.First(root.Get("prompts"), root.Get("providers"), root.Get("targets"), root.Get("tests")) == nil || root.Get("apiVersion") != nil {
		return convert.Result{}, fmt.Errorf("%s: not a promptfoo configuration: it has no prompts, providers or tests", in.Name)
	}
	c := &config{root: root, in: in, vars: map[string]bool{}, data: map[string]bool{}}
	c.Notes = notes
	files, err := c.files()
	if err != nil {
		return convert.Result{}, fmt.Errorf("%s: %w", in.Name, err)
	}
	for key, why := range topReasons {
		c.Note(root.Get(key), convert.Dropped, "%s", why)
	}
	c.NoteUnused(root, "a spec and its suites have nothing like it")
	return convert.Result{Name: c.Root.ID, Files: files, Notes: c.Sorted(root)}, nil
}

var topReasons = map[string]string{
	"redteam":            "pex generates no attacks: write the cases of a red team as a dataset",
	"outputPath":         "pexctl eval --html and --junit write reports",
	"writeLatestResults": "results are kept in the home of runs: pexctl eval ls",
	"sharing":            "reports are files",
	"tracing":            "pexctl run --events reports what happens",
	"extensions":         "extensions are code: run what they do before pexctl eval",
	"derivedMetrics":     "gates are expressions over the statistics of the whole evaluation",
	"nunjucksFilters":    "templates have the filters json, indent and trim",
	"scenarios":          "write its combinations as rows of a dataset",
	"env":                "set the variables in the environment of pexctl",
}

// config is one conversion.
type config struct {
	draft.Spec
	root      *tree.Value
	in        convert.Input
	prompts   []prompt
	providers []provider
	vars      map[string]bool // that tests have
	data      map[string]bool // those with lists or objects as values
	judgeAt   *tree.Value     // the provider that grades; nil if none is named
	judgeLLM  string
}

// files converts everything.
func (c *config) files() ([]convert.File, error) {
	name := c.in.As
	if name == "" {
		name = c.in.BaseName("eval")
		if folder := folderOf(c.in.Name); name == "promptfooconfig" && folder != "" {
			name = folder
		}
	}
	c.Comment = fmt.Sprintf("Prompt of a promptfoo configuration, imported from %s by pexctl.", tree.OneLine(path.Base(c.in.Name)))
	c.Root = &draft.Agent{ID: tree.Identifier(name, "eval"), Description: tree.Sentence(c.UseRedacted(c.root.Get("description")))}
	c.readPrompts()
	c.readProviders()
	cases := c.readTests()
	c.Root.LLM = c.providers[0].llm
	c.Root.System, c.Root.Prompt = c.prompts[0].system, c.prompts[0].user
	if slices.ContainsFunc(c.prompts, func(p prompt) bool { return p.system == "" }) {
		c.NoteAt(c.root.File, "prompts", convert.Changed, "a prompt without a system message gets a short one: Answer the question")
	}
	c.declare()
	suites := c.suites(cases)
	for i := range suites {
		c.Evals = append(c.Evals, suitePath(i))
	}
	spec, err := c.File("spec.yaml")
	files := []convert.File{spec}
	for i := 0; i < len(suites) && err == nil; i++ {
		var text []byte
		text, err = tree.WriteYAML(fmt.Sprintf("Tests of a promptfoo configuration, imported from %s by pexctl.", tree.OneLine(path.Base(c.in.Name))), suites[i])
		files = append(files, convert.File{Path: suitePath(i), Text: text})
	}
	return files, err
}

func suitePath(i int) string {
	if i == 0 {
		return "suite.yaml"
	}
	return fmt.Sprintf("suite-%d.yaml", i+1)
}

// folderOf returns the name of the folder of a file, or "" if it has none.
func folderOf(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) < 2 || strings.Trim(parts[len(parts)-2], ".") == "" {
		return ""
	}
	return parts[len(parts)-2]
}

// declare declares the variables as parameters. None is required, because a test
// may lack one; the template then renders an empty text.
func (c *config) declare() {
	text := tree.Map{{Key: "type", Value: "string"}, {Key: "default", Value: ""}}
	c.Parameters = tree.Map{{Key: "question", Value: text}}
	for i, p := range c.prompts {
		for _, name := range p.vars {
			comment := ""
			switch {
			case c.Parameters.Has(name):
				continue
			case i > 0:
				comment = "pex:ignore PEX074 a variant of the suite uses it"
			}
			kind := text
			if c.data[name] {
				kind = tree.Map{{Key: "default", Value: ""}}
			}
			c.Parameters.PutCommented(name, kind, comment)
		}
	}
}

// open reads a file that the configuration refers to: file://PATH, or a path.
func (c *config) open(ref string) ([]byte, error) {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "file://"), "./")
	if c.in.Open == nil {
		return nil, fmt.Errorf("%s: not read from standard input", ref)
	}
	return c.in.Open(ref)
}
