package specfs

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/syntax"
)

// InFolder returns the file that a folder stands for: the first of names that
// exists in it. It returns any other path unchanged.
func InFolder(path string, names ...string) string {
	path, agent := SplitAgent(path)
	path = folderFile(path, names...)
	if agent != "" {
		path += "#" + agent
	}
	return path
}

// SplitAgent splits a path into the file and the agent in it. A file name may
// contain a #.
func SplitAgent(path string) (file, agent string) {
	if _, err := os.Lstat(path); err == nil {
		return path, ""
	}
	return cutAgent(path)
}

func folderFile(path string, names ...string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return filepath.Join(path, name)
		}
	}
	return filepath.Join(path, names[0])
}

// SpecFile is the file that a folder stands for.
const SpecFile = "spec.yaml"

// cutAgent splits "spec.yaml#researcher" into the file and the agent in it. A #
// in a path does not start an agent if a slash or a dot follows.
func cutAgent(name string) (file, agent string) {
	at := strings.LastIndexByte(name, '#')
	if at < 0 || strings.Contains(name[at:], "/") || slices.Contains([]string{".yaml", ".yml"}, path.Ext(name[at:])) {
		return name, ""
	}
	return name[:at], name[at+1:]
}

// FileOf returns a path without its agent: team.yaml for team.yaml#writer.
func FileOf(path string) string {
	file, _ := SplitAgent(path)
	return file
}

// SplitAgent splits a value into a file and the agent in it. An existing file
// with a # in its name, or folder with a spec.yaml, is not split.
func (f *Reader) SplitAgent(v *syntax.Node) (file, agent string) {
	file, agent = cutAgent(v.Text)
	if file == "" || agent == "" {
		return file, agent
	}
	if abs, no := f.Resolve(v.Position.Source, v.Text); no == nil && (f.Exists(abs) || f.Exists(filepath.Join(abs, SpecFile))) {
		return v.Text, ""
	}
	return file, agent
}
