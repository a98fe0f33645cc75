package runcmd

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/providers/cassette"
)

func runsExportCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write a run as a cassette, without secrets", ArgsUsage: "RUN",
		Description: ui.Examples(
			"pexctl runs export RUN --to testdata/incident.jsonl",
			"pexctl run spec.yaml \"question\" --replay all --from testdata/incident.jsonl",
			"pexctl runs export --reseal testdata/incident.jsonl   # after it was edited by hand",
		) + "\n\n" + project.RunNames + "\n\nThe values of the environment variables that the spec names are replaced; what still looks\nlike a key refuses the whole cassette.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the `FILE` to write (default: stdout)"},
			&cli.StringFlag{Name: "reseal", Usage: "seal a cassette `FILE` again that was edited by hand, in place"},
			ui.OutputFlag(), project.HomeFlag(),
		},
		Action: env.Action(runsExport),
	}
}

// exported is what -o json says of a cassette that was written to a file.
type exported struct {
	Run     string `json:"run_id,omitempty"`
	File    string `json:"file"`
	Records int    `json:"records"`
}

func runsExport(c *ui.Call) error {
	if file := c.String("reseal"); file != "" {
		return reseal(c, file, c.JSON)
	}
	s, run, err := project.RunArg(c)
	if err != nil {
		return err
	}
	to := c.String("to")
	if c.JSON && (to == "" || to == "-") {
		return failure.Usagef("the cassette and -o json both want stdout: --to FILE keeps them apart")
	}
	r, err := project.ReadRun(c, s, run)
	if err != nil {
		return err
	}
	secrets := host.Secrets(c.Catalog, r.Program, r.Host.Env)
	for _, name := range secrets.Short() {
		fmt.Fprintf(c.Stderr, "pexctl: the value of %s is too short, or too common, to be looked for: see that the cassette does not hold it\n", name)
	}
	if to == "" || to == "-" {
		return exportError(cassette.Export(ui.Verbatim(c.Stdout), r.Records, secrets))
	}
	if err := cassette.Save(to, r.Records, secrets); err != nil {
		return exportError(err)
	}
	return tellExported(c, exported{run, to, len(r.Records)}, c.JSON)
}

// exportError tells a cassette that would show secrets, and a file that cannot
// be written, from a store in trouble.
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
		return failure.Usagef("--reseal stands alone: pexctl runs export --reseal %s", fspath.Quote(file))
	}
	if err := cassette.ResealFile(file); err != nil {
		return failure.Usagef("%w", err)
	}
	recs, err := cassette.Load(file)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	return tellExported(c, exported{recs[0].Path, file, len(recs)}, wantJSON)
}

func tellExported(c *ui.Call, e exported, wantJSON bool) error {
	if wantJSON {
		return ui.PrintJSON(c, e)
	}
	_, err := fmt.Fprintf(c.Stderr, "%s: %d records of run %s\n", e.File, e.Records, e.Run)
	return err
}
