package speccmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
)

// ListCommand returns "pexctl list".
func ListCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "List the available providers, tools, nodes, checks and reports", ArgsUsage: "[KIND [TYPE]]",
		Description: ui.Help("", "pexctl list", "pexctl list tool", "pexctl list tool clock # The keys of one component", "pexctl list -o json"),
		Flags:       []cli.Flag{ui.OutputFlag()},
		Action:      env.Action(withFlags(list), 2),
	}
}

func list(c *call) error {
	found := allComponents(c.Catalog)
	if kind := c.Arg(0); kind != "" {
		found = slices.DeleteFunc(found, func(b component.Blueprint) bool { return b.Kind != kind })
		if len(found) == 0 {
			return failure.Usagef("unknown kind %q; use %s", kind, ui.OneOf(Kinds(c.Catalog)))
		}
	}
	if typ := c.Arg(1); typ != "" {
		return listOne(c, found, typ, c.JSON)
	}
	if c.JSON {
		return ui.PrintJSON(c.Call, struct {
			Components []component.Info `json:"components"`
		}{infos(found)})
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 4, 2, ' ', 0)
	for _, info := range infos(found) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", info.Kind, info.Type, info.Doc)
	}
	return w.Flush()
}

// listOne prints a component of one kind with its keys.
func listOne(c *call, of component.Blueprints, typ string, wantJSON bool) error {
	b, ok := of.Find(typ)
	if !ok {
		hint := ""
		if near := ui.Nearest(typ, of.Types()); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return failure.Usagef("unknown %s %q%s (for the list: pexctl list %[1]s)", of[0].Kind, typ, hint)
	}
	keys := []config.Key{}
	if b.Config != nil { // reports have none
		keys = append(keys, config.Keys(b.Config())...)
	}
	if wantJSON {
		return ui.PrintJSON(c.Call, struct {
			component.Info
			Keys []config.Key `json:"keys"`
		}{b.Info, keys})
	}
	fmt.Fprintf(c.Stdout, "%s %s (%s): %s\n", b.Kind, b.Type, b.Stability, b.Doc)
	if len(keys) == 0 {
		return nil
	}
	return printKeys(c.Stdout, keys)
}

func printKeys(to io.Writer, keys []config.Key) error {
	fmt.Fprintln(to)
	w := tabwriter.NewWriter(to, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tDEFAULT\t")
	for _, k := range keys {
		def := cmp.Or(k.Default, "-")
		if k.Required {
			def = "required"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.Key, strings.ReplaceAll(k.Value, "`", ""), def, k.Doc)
	}
	return w.Flush()
}

// allComponents returns everything that specs, tests, suites and flags can name.
func allComponents(c *catalog.Catalog) component.Blueprints {
	out := slices.Concat(c.Models.Blueprints("provider"), c.Tools.Blueprints("tool"), c.Nodes.Blueprints("node"), c.Checks.Blueprints("check"))
	for _, info := range report.All().List("report") {
		out = append(out, component.Blueprint{Info: info})
	}
	return out
}

func infos(of component.Blueprints) []component.Info {
	out := []component.Info{}
	for _, b := range of {
		out = append(out, b.Info)
	}
	return out
}

// Kinds returns the kinds of components, in the order in which they are listed.
func Kinds(c *catalog.Catalog) []string {
	var out []string
	for _, b := range allComponents(c) {
		out = append(out, b.Kind)
	}
	return slices.Compact(out)
}

// SchemaCommand returns "pexctl schema".
func SchemaCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "Print the JSON Schema of specs, for editors",
		Description: ui.Help("", "pexctl schema > pex.schema.json"),
		Action: env.Action(withFlags(func(c *call) error {
			_, err := fmt.Fprintf(ui.Verbatim(c.Stdout), "%s\n", jsonschema.New(c.Catalog.Catalog, c.Catalog.Checks.Blueprints("check")))
			return err
		}), 0),
	}
}
