package project

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/homedir"
)

// HomeOf returns the home of a command about files below root.
func HomeOf(c *ui.Call, root string) string {
	return cmp.Or(c.Home, os.Getenv("PEX_HOME"), filepath.Join(root, homedir.FolderName))
}

// EvalsDir returns the folder of evaluations, each of which has its own folder.
func EvalsDir(home string) string { return filepath.Join(home, "evals") }
