package main

import (
	"os"
	"path/filepath"
	"strings"
)

// assets is the folder of the files that the binary embeds.
const assets = "server/web/static"

// Embedded returns the libraries in the folder of assets below root: those with a file
// NAME-VERSION.LICENSE.
func Embedded(root string) (out []Module, err error) {
	files, err := filepath.Glob(filepath.Join(root, assets, "*.LICENSE"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".LICENSE"), "-")
		out = append(out, Module{name, "v" + version, map[string]string{"LICENSE": string(text)}})
	}
	return out, nil
}
