package homedir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits of the search for homes: depth below the working folder, and number of folders read.
const (
	nearDepth   = 3
	nearFolders = 1000
)

// Nearby returns the homes below and above a folder that have a part (runs, evals or memory), nearest first. It
// does not search hidden folders and node_modules, and does not follow links.
func Nearby(dir, part string) []string {
	var homes []string
	look := func(dir string) {
		home := filepath.Join(dir, FolderName)
		if entries, err := os.ReadDir(filepath.Join(home, part)); err == nil && len(entries) > 0 {
			homes = append(homes, home)
		}
	}
	level, read := []string{dir}, 0
	for range nearDepth {
		var below []string
		for _, parent := range level {
			if read++; read > nearFolders {
				break
			}
			entries, _ := os.ReadDir(parent) // unreadable folders are skipped
			for _, e := range entries {
				if searched(e) {
					below = append(below, filepath.Join(parent, e.Name()))
				}
			}
		}
		for _, d := range below {
			look(d)
		}
		level = below
	}
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		look(at)
		if filepath.Dir(at) == at {
			return homes
		}
	}
}

func searched(e fs.DirEntry) bool {
	return e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules"
}
