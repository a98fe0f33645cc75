package main

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
)

func homeFlag() cli.Flag {
	return &cli.StringFlag{Name: "home", Usage: "`DIR` that keeps runs and memory (default: $PEX_HOME, else .pex at the project root)"}
}

// homeDir is where runs and memory are kept.
func homeDir(c *cli.Context, spec *dsl.Spec) string {
	if dir := c.String("home"); dir != "" {
		return dir
	}
	if dir := os.Getenv("PEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(spec.Root, ".pex")
}

// newRunID is an id that sorts by time: r-20260102-150405-1a2b3c.
func newRunID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "r-" + now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}
