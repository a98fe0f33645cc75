package runcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/providers/cassette"
)

func runsExportCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "Export a run as a cassette, with secrets redacted", ArgsUsage: "RUN",
		Description: ui.Help(project.RunNames+" Redacts the values of the environment variables that the spec names. If anything else looks like a key, nothing is exported.",
			"pexctl runs export RUN --to testdata/incident.jsonl",
			`pexctl run spec.yaml "question" --replay all --from testdata/incident.jsonl`,
			"pexctl runs export --reseal testdata/incident.jsonl # After editing it by hand",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "Write to `FILE` (default: stdout)"},
			&cli.StringFlag{Name: "reseal", Usage: "Recompute the checksums of the cassette `FILE` after a manual edit"},
			ui.OutputFlag(), project.HomeFlag(), serverclient.Flag(),
		},
		Action: env.Action(runsExport),
	}
}

// exported is the -o json form of a cassette that was written to a file.
type exported struct {
	Run     string `json:"run_id,omitempty"`
	File    string `json:"file"`
	Records int    `json:"records"`
}

func runsExport(c *ui.Call) error {
	if file := c.String("reseal"); file != "" {
		return reseal(c, file, c.JSON)
	}
	to := c.String("to")
	if c.JSON && (to == "" || to == "-") {
		return failure.Usagef("the cassette and -o json cannot both go to stdout; add --to FILE")
	}
	server, err := openServer(c, "to")
	if err != nil {
		return err
	}
	if server != nil {
		return server.export(to)
	}
	s, run, err := project.RunArg(c)
	if err != nil {
		return err
	}
	r, err := project.ReadRun(c, s, run)
	if err != nil {
		return err
	}
	secrets := host.Secrets(c.Catalog, r.Program, r.Host.Env)
	for _, name := range secrets.Short() {
		fmt.Fprintf(c.Stderr, "pexctl: the value of %s is too short or too common to redact; make sure that the cassette does not contain it\n", name)
	}
	if to == "" || to == "-" {
		return exportError(cassette.Export(ui.Verbatim(c.Stdout), r.Records, secrets))
	}
	if err := cassette.Save(to, r.Records, secrets); err != nil {
		return exportError(err)
	}
	return printExported(c, exported{run, to, len(r.Records)}, c.JSON)
}

// printCassette prints a cassette of a server.
func printCassette(c *ui.Call, from io.Reader) error {
	_, err := io.Copy(ui.Verbatim(c.Stdout), from)
	return err
}

// exportError separates a cassette with secrets, and a file that cannot be written,
// from errors of the store.
func exportError(err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*cassette.Refused](err); ok {
		return ui.Exit(ui.ExitNegative, refused)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return failure.Usagef("--to: %w", path)
	}
	return failure.Infra(err)
}

func reseal(c *ui.Call, file string, wantJSON bool) error {
	if len(c.Args) > 0 || c.String("to") != "" {
		return failure.Usagef("--reseal cannot be combined with a run or --to; usage: pexctl runs export --reseal %s", fspath.Quote(file))
	}
	if err := cassette.ResealFile(file); err != nil {
		return failure.Usagef("%w", err)
	}
	recs, err := cassette.Load(file)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	return printExported(c, exported{recs[0].Path, file, len(recs)}, wantJSON)
}

func printExported(c *ui.Call, e exported, wantJSON bool) error {
	if wantJSON {
		return ui.PrintJSON(c, e)
	}
	_, err := fmt.Fprintf(c.Stderr, "%s: %d records of run %s\n", e.File, e.Records, e.Run)
	return err
}
