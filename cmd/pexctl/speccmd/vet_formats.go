package speccmd

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/fetchspec"
	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/version"
)

// vetFormats are the output formats of vet.
var vetFormats = []string{"text", "json", "sarif", "github"}

// vetFormat returns the requested one. Formats of other tools cannot contain
// values and bounds.
func vetFormat(c *call) (string, error) {
	if c.Format == "sarif" || c.Format == "github" {
		for _, flag := range []string{"explain", "cost"} {
			if c.Bool(flag) {
				return "", failure.Usagef("-o %s and --%s cannot be combined", c.Format, flag)
			}
		}
	}
	return c.Format, nil
}

// print prints the results on stdout. Formats of other tools have no summary,
// which then goes to stderr.
func (v *vetReport) print(c *call, format string) error {
	switch format {
	case "json":
		return printVetted(c, v.found, v.values, v.costs)
	case "sarif":
		defer v.summary(c.Stderr)
		return ui.PrintJSON(c.Call, diag.Log{Version: version.String(), Found: v.found, Ignored: v.ignored, File: sourceFile})
	case "github":
		defer v.summary(c.Stderr)
		_, err := fmt.Fprint(ui.Verbatim(c.Stdout), v.found.GitHub(sourceFile))
		return err
	}
	v.text(c)
	return nil
}

// sourceFile returns the file of a diagnostic relative to the root of the
// checkout on GitHub, or else to the working folder. It returns "" for a flag or
// a variable.
func sourceFile(name string) string {
	switch {
	case name == "", strings.HasPrefix(name, "--"), strings.HasPrefix(name, "PEX_SET_"):
		return ""
	case fetchspec.IsURL(name):
		return name
	}
	return outputs.ReportedPath(fspath.Real(name))
}
