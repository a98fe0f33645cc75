package initcmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/aurite"
	"github.com/pexctl/pex/dsl/convert/opensearch"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// ImportCommand is "pexctl import".
func ImportCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "Convert agents of other tools to specs",
		Description: ui.Help("",
			"pexctl import opensearch agent.json --connector model.json # A registration body and its model connector",
			"pexctl import aurite my-project # An Aurite project folder or file",
		),
		Subcommands: []*cli.Command{importOpenSearchCommand(env), importAuriteCommand(env)},
	}
}

func importOpenSearchCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "opensearch", Usage: "Convert an OpenSearch agent", ArgsUsage: "FILE | -",
		Description: ui.Help("FILE is the body of POST /_plugins/_ml/agents/_register.",
			"pexctl import opensearch agent.json",
			"pexctl import opensearch agent.json --connector model.json # With the connector of its model",
			"pexctl import opensearch agent.json --connector planner.json --connector executor.json --connector mcp.json",
			"pexctl import opensearch agent.json --agent LTAUCJkB_DaNGdnFk4KF=executor.json # With its executor agent",
			"curl -s $OPENSEARCH_URL/_plugins/_ml/agents/$ID | pexctl import opensearch - --name triage --out agents/triage",
		),
		Flags: append(importFlags(),
			&cli.StringSliceFlag{Name: "agent", Usage: "`ID=FILE`: Registration body of the agent in executor_agent_id (the id may be left out if there is only one)"},
			&cli.StringSliceFlag{Name: "connector", Usage: "`FILE` with the body of a connector, or of a model that contains one: first the planner's model, then the executor's; connectors of tool servers are recognized by their protocol"}),
		Action: env.Action(withFlags(func(c *call) error {
			return importFrom(c, false, opensearch.Convert, more{paths: c.connector}, more{paths: c.agent, agent: "*"})
		})),
	}
}

func importAuriteCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "aurite", Usage: "Convert an Aurite project or agent", ArgsUsage: "FILE | DIR | -",
		Description: ui.Help("",
			"pexctl import aurite harbour # A project folder with all its components",
			"pexctl import aurite config/projects/harbour.json # A project file",
			"pexctl import aurite agents.json --with llms.json --with mcp_servers.yaml --out harbour # Components in several files",
			`pexctl import aurite aurite.json --name "Weather Agent" --out agents/weather`,
		),
		Flags: append(importFlags(), &cli.StringSliceFlag{Name: "with", Usage: "`PATH`: Another file or folder with components of the project"}),
		Action: env.Action(withFlags(func(c *call) error {
			return importFrom(c, true, aurite.Convert, more{paths: c.with, folders: true})
		})),
	}
}

func importFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Usage: "Create the project in `DIR` (default: the name of the agent)"},
		&cli.StringFlag{Name: "name", Usage: "`NAME`: Name of the agent (default: that in the source)"},
		&cli.BoolFlag{Name: "force", Usage: "Overwrite existing files"},
		ui.OutputFlag(),
	}
}

// more is files that belong to the first: agents say by which id, others by
// themselves what they are.
type more struct {
	paths   []string
	folders bool   // a path may be a project's folder
	agent   string // what an agent is called by that has no id; "" = they are no agents
}

// importFrom converts a file with those that belong to it, writes the result and
// vets it. With folders, a project's folder is given as well as a file.
func importFrom(c *call, folders bool, with func(convert.Input, ...convert.Input) (convert.Result, error), all ...more) error {
	if c.Arg(0) == "" {
		return failure.Usagef("no file given: pexctl %s agent.json (- for stdin)", c.Name)
	}
	if err := c.AtMost(1); err != nil {
		return err
	}
	sources, err := foreignFiles(c, append([]more{{paths: []string{c.Arg(0)}, folders: folders}}, all...))
	if err != nil {
		return err
	}
	sources[0].As = c.name
	made, err := with(sources[0], sources[1:]...)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	dir := c.out
	if dir == "" {
		base := filepath.Base(sources[0].Name)
		dir = besides(folderName(cmp.Or(made.Name, sources[0].As, strings.TrimSuffix(base, filepath.Ext(base)))), c.Arg(0))
	}
	paths, err := writeImport(dir, made.Files, c.force)
	if err != nil {
		return err
	}
	return tellImport(c, &imported{dir, paths, made.Notes, vetImport(c, paths)}, c.JSON)
}

// vetImport finds what is wrong with what was written.
func vetImport(c *call, paths []string) (all diag.List) {
	o := project.SpecOptions(c.Call)
	o.Analyzers = analysis.All()
	for _, path := range paths {
		if strings.HasSuffix(path, ".yaml") {
			_, found := dsl.Vet(path, o)
			all = append(all, found...)
		}
	}
	return slices.Compact(all.Sort())
}

// foreignFiles reads files to convert.
func foreignFiles(c *call, all []more) (out []convert.Input, err error) {
	for _, m := range all {
		for _, path := range m.paths {
			id := m.agent
			if before, after, ok := strings.Cut(path, "="); ok && id != "" {
				id, path = before, after
			}
			if id != "" && id != "*" && slices.ContainsFunc(out, func(in convert.Input) bool { return in.Agent == id }) {
				return nil, failure.Usagef("--agent gives %s twice", id)
			}
			if m.folders && path != ui.FromStdin && isFolder(path) {
				files, err := projectFiles(c, path)
				if err != nil {
					return nil, err
				}
				out = append(out, files...)
				continue
			}
			in, err := foreignFile(c, path)
			if err != nil {
				return nil, err
			}
			in.Agent = id
			out = append(out, in)
		}
	}
	return out, nil
}

// foreignFile reads a file to convert; - is stdin.
func foreignFile(c *call, path string) (convert.Input, error) {
	b, err := ui.ReadGiven(c.Call, "", path, ui.MostForeign)
	if path == ui.FromStdin {
		path = "stdin"
	}
	return convert.Input{Name: filepath.ToSlash(path), Text: b}, err
}

// folderName is an agent's name as the name of a folder.
func folderName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return ' '
	}, name)
	s = strings.Join(strings.Fields(s), "-")
	if s = strings.Trim(s[:min(len(s), 60)], "-"); s == "" {
		return "imported-agent"
	}
	return s
}

// noSpec says why a file that was made cannot be one of ours: its source holds
// more than a spec may, or the fault is ours.
func noSpec(path string, found diag.List) error {
	wrong := found[slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })]
	if wrong.Code == diag.TooLarge {
		return failure.Usagef("%s: there is more in it than a spec may hold: %s; nothing was written: leave out of the source what the agent does not need, or split it into several agents", path, wrong.Message)
	}
	return failure.Infra(fmt.Errorf("%s: what was made is no YAML: %s", path, wrong.Message))
}

// writeImport writes the files, the YAML ones formatted, each whole. What is
// there already is an error, as is what no spec may hold; then nothing is written.
func writeImport(dir string, files []convert.File, force bool) (paths []string, err error) {
	for i, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if _, err := os.Lstat(path); err == nil && !force {
			return nil, failure.Usagef("%s is there already: choose another folder with --out, or --force to write over it", path)
		}
		paths = append(paths, path)
		if strings.HasSuffix(f.Path, ".yaml") {
			var found diag.List
			if files[i].Text, found = dsl.Format(f.Text); found.Failed() {
				return nil, noSpec(f.Path, found)
			}
		}
	}
	for i, f := range files {
		if err := os.MkdirAll(filepath.Dir(paths[i]), 0o755); err != nil {
			return nil, failure.Usagef("%w", err)
		}
		if err := fspath.WriteFile(paths[i], 0o644, func(w io.Writer) error { _, err := w.Write(f.Text); return err }); err != nil {
			return nil, failure.Infra(err)
		}
	}
	return paths, nil
}
