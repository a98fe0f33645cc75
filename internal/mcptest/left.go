//go:build linux

package mcptest

import (
	"bytes"
	"os"
	"path/filepath"
)

// Left are the processes, as their ids, whose environment holds the mark.
func Left(mark string) []string {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err) // only a bad pattern is an error
	}
	var left []string
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(mark)) {
			left = append(left, filepath.Base(filepath.Dir(file)))
		}
	}
	return left
}
