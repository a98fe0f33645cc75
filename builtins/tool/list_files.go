package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// ListFilesConfig configures list_files.
type ListFilesConfig struct {
	Root       string   `yaml:"root" path:"relative" doc:"Folder whose files can be listed, relative to this file. Default: the spec's folder."`
	Exclude    []string `yaml:"exclude" doc:"Names of files and folders that are not shown, at any depth. Shell wildcards such as * are allowed."`
	MaxEntries int      `yaml:"max_entries" min:"1" max:"5000" doc:"Maximum number of entries per call."`
}

// Access implements tool.AccessDescriber.
func (*ListFilesConfig) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *ListFilesConfig) NeedsHost() string { return tool.FilesBelow(c.Root) }

// ListFiles lists files and folders.
var ListFiles = component.New("list_files", "Lists files and folders with their sizes, by pattern.",
	func() ListFilesConfig { return ListFilesConfig{Exclude: sandboxfs.Hidden(), MaxEntries: 200} }, newListFiles)

const listFilesInput = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"Folder to list (default: the root folder)."},` +
	`"pattern":{"type":"string","description":"Glob pattern relative to path: * and ? match within a name, ** matches any folders, {a,b} matches either. For example *.csv or **/*.{md,txt} (default: *, the direct contents of path)."}` +
	`},"required":[],"additionalProperties":false}`

type listFiles struct {
	info       tool.Info
	folder     *sandboxfs.Folder
	maxEntries int
}

var _ tool.Tool = (*listFiles)(nil)

func newListFiles(c *ListFilesConfig, s tool.Settings) (tool.Tool, error) {
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	return &listFiles{toolInfo(s, "list_files",
		"Lists files and folders with their sizes, sorted by name. Folders end with a slash. Use it to find files before reading them. Use a pattern with ** to include subfolders.",
		listFilesInput, tool.ReadEffect), f, c.MaxEntries}, nil
}

// Info implements tool.Tool.
func (t *listFiles) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *listFiles) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[struct {
		Path    string `json:"path"`
		Pattern string `json:"pattern"`
	}](ctx, call)
	if err != nil {
		return nil, err
	}
	glob, err := sandboxfs.ParseGlob(cmp.Or(args.Pattern, "*"))
	if err != nil {
		return nil, err
	}
	tree, err := t.folder.Open()
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	dir, err := tree.Clean(args.Path)
	if err != nil {
		return nil, err
	}
	var found listing
	err = tree.Walk(ctx, dir, glob, func(e sandboxfs.Entry) error {
		found.add(e, t.maxEntries)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found.output(dir, args.Pattern)
}

// listing holds the entries found, up to a limit.
type listing struct {
	entries []listedFile
	total   int
}

type listedFile struct {
	Path string `json:"path"`
	Size *int64 `json:"size,omitempty"` // nil for a folder
}

func (l *listing) add(e sandboxfs.Entry, most int) {
	if l.total++; l.total > most {
		return
	}
	if e.Dir {
		l.entries = append(l.entries, listedFile{Path: e.Path + "/"})
	} else {
		l.entries = append(l.entries, listedFile{e.Path, &e.Size})
	}
}

func (l *listing) output(dir, pattern string) (*tool.Output, error) {
	if l.total == 0 {
		text := fmt.Sprintf("nothing in %s fits %s", dir, cmp.Or(pattern, "*"))
		if pattern != "" && !strings.Contains(pattern, "**") {
			text += fmt.Sprintf("; pattern **/%s looks into its folders too", pattern)
		}
		return &tool.Output{Text: text, Data: json.RawMessage("[]")}, nil
	}
	var text strings.Builder
	for _, e := range l.entries {
		text.WriteString(sandboxfs.DisplayPath(e.Path))
		if e.Size != nil {
			fmt.Fprintf(&text, " (%s)", size(*e.Size))
		}
		text.WriteByte('\n')
	}
	if more := l.total - len(l.entries); more > 0 {
		fmt.Fprintf(&text, "[%d of %d shown; narrow the pattern or the path to see the others]\n", len(l.entries), l.total)
	}
	data, err := json.Marshal(l.entries)
	return &tool.Output{Text: strings.TrimSuffix(text.String(), "\n"), Data: data}, err
}
