package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
)

func fmtCommand() *cli.Command {
	return &cli.Command{
		Name: "fmt", Usage: "format specs; comments and texts stay as they are", ArgsUsage: "SPEC... (or - for stdin)",
		Description: examples("pexctl fmt spec.yaml", "pexctl fmt --check specs/*", "pexctl fmt - < spec.yaml"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "change nothing; exit 1 when a file is not formatted"},
		},
		Action: format,
	}
}

func format(c *cli.Context) error {
	if _, err := oneSpec(c); err != nil {
		return err
	}
	changed := 0
	for _, path := range c.Args().Slice() {
		differs, err := formatOne(c, path)
		if err != nil {
			return err
		}
		if differs {
			changed++
		}
	}
	if changed > 0 && c.Bool("check") {
		return &exitError{exitNegative, nil}
	}
	return nil
}

func formatOne(c *cli.Context, path string) (differs bool, err error) {
	if path == "-" {
		src, err := io.ReadAll(io.LimitReader(c.App.Reader, 2<<20))
		if err != nil {
			return false, infra(err)
		}
		out, found := dsl.Format(src)
		if err := show(c, found); err != nil {
			return false, err
		}
		_, err = c.App.Writer.Write(out)
		return false, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "spec.yaml")
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return false, usage("%w", err)
	}
	out, found := dsl.Format(src)
	for i := range found {
		found[i].File = path
	}
	if err := show(c, found); err != nil {
		return false, err
	}
	if bytes.Equal(src, out) {
		return false, nil
	}
	fmt.Fprintln(c.App.Writer, path)
	if c.Bool("check") {
		return true, nil
	}
	if err := replace(path, out); err != nil {
		return true, infra(err)
	}
	return true, nil
}

// replace writes a file whole or not at all.
func replace(path string, content []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone already when all went well
	if _, err = tmp.Write(content); err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = tmp.Sync()
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
