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
	About string `json:"about"` // what it does, on one line
	Shows string `json:"shows"` // what it demonstrates, in Markdown
}

// File is one file of a sample.
type File struct {
	Path    string // below its folder, with slashes
	Content []byte
}

// List returns the samples in the order of the table in README.md.
func List() []Sample {
	row := regexp.MustCompile(`(?m)^\| \[([a-z-]+)\]\(([a-z-]+)\) \| (.+?) \| (.+?) \|$`)
	var out []Sample
	for _, m := range row.FindAllStringSubmatch(readme, -1) {
		out = append(out, Sample{Name: m[2], About: m[3], Shows: m[4]})
	}
	return out
}

// Find returns the sample with the given name.
func Find(name string) (Sample, bool) {
	all := List()
	i := slices.IndexFunc(all, func(s Sample) bool { return s.Name == name })
	if i < 0 {
		return Sample{}, false
	}
	return all[i], true
}

// Files returns the files of the sample, sorted by path. Commands in its texts
// are adapted to run in a copy of the folder.
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
		out = append(out, File{at, s.adapted(at, content)})
		return err
	})
	if err == nil && len(out) == 0 {
		err = errors.New("the sample " + s.Name + " has no files")
	}
	return out, err
}

// page is the address of README.md, for users who have only the binary.
const page = "https://github.com/pexctl/pex/blob/main/specs/README.md"

// adapted returns a file of the sample for a copy of its folder. Recordings
// and data are not changed.
func (s Sample) adapted(at string, content []byte) []byte {
	if ext := path.Ext(at); ext != ".md" && ext != ".yaml" || strings.Contains(at, "golden/") {
		return content
	}
	if path.Ext(at) == ".md" {
		content = regexp.MustCompile(`(?m)^<!-- .* -->\n\n?`).ReplaceAll(content, nil) // instructions for the tests of pages
	}
	here := "specs/" + s.Name
	return []byte(strings.NewReplacer(here+"/", "", here, ".", "../README.md", page).Replace(string(content)))
}
