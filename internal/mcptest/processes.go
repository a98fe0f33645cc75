//go:build linux

package mcptest

import (
	"bytes"
	"os"
	"path/filepath"
)

// ProcessesWith returns the ids of the processes whose environment contains the mark.
func ProcessesWith(mark string) []string {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err) // the pattern is valid
	}
	var left []string
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(mark)) {
			left = append(left, filepath.Base(filepath.Dir(file)))
		}
	}
	return left
}
