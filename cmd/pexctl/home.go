package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/remote"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
)

func homeFlag() cli.Flag {
	return &cli.StringFlag{Name: "home", Usage: "`DIR` that keeps runs and memory (default: $PEX_HOME, else .pex at the project root)"}
}

func tenantFlag() cli.Flag {
	return &cli.StringFlag{Name: "tenant", Usage: "`NAME` of whose memory it is: tenants see nothing of each other's"}
}

// homeDir is where runs and memory are kept.
func homeDir(c *ui.Call, spec *dsl.Spec) string {
	if dir := c.String("home"); dir != "" {
		return dir
	}
	if dir := os.Getenv("PEX_HOME"); dir != "" {
		return dir
	}
	if here, err := homeHere(c); err == nil && remote.Is(c.Arg(0)) {
		return here // where the spec is kept, too
	}
	return filepath.Join(spec.Root, homedir.FolderName)
}

// homeHere is the home of a command that is given no spec: --home, else
// $PEX_HOME, else .pex at the root of the project around the working folder.
func homeHere(c *ui.Call) (string, error) {
	if dir := c.String("home"); dir != "" {
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

// homeOfSpec is the home of the project of a spec, as run finds it; word is the
// spec as the caller wrote it, "" = homeHere.
func homeOfSpec(c *ui.Call, word string) (string, error) {
	if word == "" || remote.Is(word) {
		return homeHere(c)
	}
	dir := specfs.FileOf(word)
	info, err := os.Stat(dir)
	if err != nil {
		return "", failure.NotFoundf("the argument is a spec or its folder", "there is no %s", word)
	}
	if c.String("home") != "" || os.Getenv("PEX_HOME") != "" {
		return homeHere(c)
	}
	if root := c.String("root"); root != "" {
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
