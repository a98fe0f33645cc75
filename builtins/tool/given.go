package tool

import (
	"fmt"
	"path/filepath"

	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/folder"
)

// opened is the tree that a path is looked up in, and the path there: those of
// the tool's folder, or, where the user gave the run a file by that very name,
// those of the file, wherever it lies. It is for reading only. The caller closes
// the tree.
func opened(f *folder.Folder, call *tool.Call, name string) (*folder.Tree, string, error) {
	if file, ok := call.Files[name]; ok {
		return given(file)
	}
	tree, err := f.Open()
	if err != nil {
		return nil, "", err
	}
	path, err := tree.Clean(name)
	if err != nil {
		tree.Close()
		return nil, "", err
	}
	return tree, path, nil
}

// given is a file that the user gave the run, and its folder as a tree. A link
// leads to where it leads: the user named it.
func given(file string) (*folder.Tree, string, error) {
	whole, err := filepath.EvalSymlinks(file)
	if err != nil {
		return nil, "", fmt.Errorf("the file was given to the run, and is not there any more: %w", err)
	}
	dir, name := filepath.Split(whole)
	f, err := folder.New(tool.Settings{Dir: dir, Root: dir}, "", nil)
	if err != nil {
		return nil, "", err
	}
	tree, err := f.Open()
	return tree, name, err
}
