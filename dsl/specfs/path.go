package specfs

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/syntax"
)

// InFolder is the file that a folder stands for: the first of these that it
// has. Any other path is itself.
func InFolder(path string, names ...string) string {
	path, agent := SplitAgent(path)
	path = folderFile(path, names...)
	if agent != "" {
		path += "#" + agent
	}
	return path
}

// SplitAgent parts a path from the agent in it that is meant; a file may have a #
// in its name.
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

// SpecFile is what a folder stands for.
const SpecFile = "spec.yaml"

// cutAgent parts "spec.yaml#researcher" into the file and the agent in it. A #
// may be in a path, too: no agent is called like a folder or a file.
func cutAgent(name string) (file, agent string) {
	at := strings.LastIndexByte(name, '#')
	if at < 0 || strings.Contains(name[at:], "/") || slices.Contains([]string{".yaml", ".yml"}, path.Ext(name[at:])) {
		return name, ""
	}
	return name[:at], name[at+1:]
}

// FileOf is a path without the agent that it means: of team.yaml#writer,
// team.yaml.
func FileOf(path string) string {
	file, _ := SplitAgent(path)
	return file
}

// SplitAgent parts what a value names from the agent in it; a file that is there
// with a # in its name, or a folder with its spec.yaml, is meant as a whole.
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
