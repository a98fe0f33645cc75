package specs

import (
	"embed"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed README.md
var readme string

//go:embed hello log-triage sales-report repo-tour refund-desk refund-desk/.gitignore mcp-files
var folders embed.FS

// Sample is a folder with an agent, its data and its tests.
type Sample struct {
	Name  string `json:"name"`
	About string `json:"about"` // what it does, in a line
	Shows string `json:"shows"` // what to look at, in Markdown
}

// File is one file of a sample.
type File struct {
	Path    string // below its folder, with slashes
	Content []byte
}

// row is a sample's row in the table of README.md.
var row = regexp.MustCompile(`(?m)^\| \[([a-z-]+)\]\(([a-z-]+)\) \| (.+?) \| (.+?) \|$`)

// List gives the samples in the order of README.md.
func List() []Sample {
	var out []Sample
	for _, m := range row.FindAllStringSubmatch(readme, -1) {
		out = append(out, Sample{Name: m[2], About: m[3], Shows: m[4]})
	}
	return out
}

// Find gives the sample of a name.
func Find(name string) (Sample, bool) {
	all := List()
	i := slices.IndexFunc(all, func(s Sample) bool { return s.Name == name })
	if i < 0 {
		return Sample{}, false
	}
	return all[i], true
}

// Files are what the folder of the sample holds, sorted by path. Commands in
// its texts are written for whoever stands in that folder, wherever it is.
func (s Sample) Files() ([]File, error) {
	root, err := fs.Sub(folders, s.Name)
	if err != nil {
		return nil, err
	}
	var out []File
	err = fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, at)
		out = append(out, File{at, s.moved(at, content)})
		return err
	})
	if err == nil && len(out) == 0 {
		err = errors.New("the sample " + s.Name + " has no files")
	}
	return out, err
}

// page is where README.md is to be read by those who have the program only.
const page = "https://github.com/pexctl/pex/blob/main/specs/README.md"

// moved is a file of the sample outside of this folder; recordings and data
// stay what they are.
func (s Sample) moved(at string, content []byte) []byte {
	if ext := path.Ext(at); ext != ".md" && ext != ".yaml" || strings.Contains(at, "golden/") {
		return content
	}
	here := "specs/" + s.Name
	return []byte(strings.NewReplacer(here+"/", "", here, ".", "../README.md", page).Replace(string(content)))
}
