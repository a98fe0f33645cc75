package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/fetchspec"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// HomeFlag returns --home, for commands that use a home.
func HomeFlag() cli.Flag {
	return &cli.StringFlag{Name: "home", Category: ui.GroupStorage, Usage: "`DIR`: Home directory for runs and memory (default: $PEX_HOME, else .pex at the project root)"}
}

// TenantFlag returns --tenant, for commands that use memory.
func TenantFlag() cli.Flag {
	return &cli.StringFlag{Name: "tenant", Category: ui.GroupStorage, Usage: "Use the memory of tenant `NAME`; tenants cannot see each other's memory"}
}

// HomeDir returns the folder of runs and memory.
func HomeDir(c *ui.Call, spec *dsl.Spec) string {
	if dir := c.Home; dir != "" {
		return dir
	}
	if dir := os.Getenv("PEX_HOME"); dir != "" {
		return dir
	}
	if here, err := HomeHere(c); err == nil && fetchspec.IsURL(c.Arg(0)) {
		return here // which also stores the spec
	}
	return filepath.Join(spec.Root, homedir.FolderName)
}

// HomeHere returns the home of a command without a spec: --home, or else
// $PEX_HOME, or else .pex at the root of the project around the working folder.
func HomeHere(c *ui.Call) (string, error) {
	if dir := c.Home; dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("PEX_HOME"); dir != "" {
		return dir, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", failure.Usagef("%w", err)
	}
	return filepath.Join(specfs.Root(here), homedir.FolderName), nil
}

// HomeOfSpec returns the home of a spec's project, as for run. word is the spec
// as given; "" means HomeHere.
func HomeOfSpec(c *ui.Call, word string) (string, error) {
	if word == "" || fetchspec.IsURL(word) {
		return HomeHere(c)
	}
	dir := specfs.FileOf(word)
	info, err := os.Stat(dir)
	if err != nil {
		return "", failure.NotFoundf("give a spec or its folder", "%s does not exist", word)
	}
	if c.Home != "" || os.Getenv("PEX_HOME") != "" {
		return HomeHere(c)
	}
	if root := c.Root; root != "" {
		return filepath.Join(root, homedir.FolderName), nil
	}
	if !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", failure.Usagef("%w", err)
	}
	return filepath.Join(specfs.Root(dir), homedir.FolderName), nil
}

// HomeArgument returns the --home flag that a command needs to find the home, or
// "" if none. With --server it returns that flag.
func HomeArgument(c *ui.Call, home string) string {
	if c.Server != "" {
		return " --server " + fspath.Quote(c.Server)
	}
	if !c.IsSet("home") {
		if here, err := HomeHere(c); err == nil && fspath.Same(here, home) {
			return ""
		}
	}
	return " --home " + fspath.Quote(fspath.Relative(home))
}

// Command returns a command line with the --home or --server of this call.
func Command(c *ui.Call, words ...string) string {
	line := "pexctl " + strings.Join(words, " ")
	switch {
	case c.Server != "":
		line += " --server " + fspath.Quote(c.Server)
	case c.IsSet("home"):
		line += " --home " + fspath.Quote(c.Home)
	}
	return line
}
