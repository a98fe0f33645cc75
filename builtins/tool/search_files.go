package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tool/grep"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// SearchFilesConfig configures search_files.
type SearchFilesConfig struct {
	Root       string   `yaml:"root" path:"relative" doc:"Folder whose files can be searched, relative to this file. Default: the spec's folder."`
	Exclude    []string `yaml:"exclude" doc:"Names of files and folders that are not searched, at any depth. Shell wildcards such as * are allowed."`
	MaxResults int      `yaml:"max_results" min:"1" max:"1000" doc:"Maximum number of lines that a call may request. Default of a call: 50."`
}

// Access implements tool.AccessDescriber.
func (*SearchFilesConfig) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *SearchFilesConfig) NeedsHost() string { return tool.FilesBelow(c.Root) }

// ReadsFiles implements tool.FileReader.
func (c *SearchFilesConfig) ReadsFiles() (root string, given bool) { return c.Root, false }

// SearchFiles searches files by line.
var SearchFiles = component.New("search_files", "Searches text files below a folder for a string or regular expression.",
	func() SearchFilesConfig { return SearchFilesConfig{Exclude: sandboxfs.Hidden(), MaxResults: 200} }, newSearchFiles)

const searchFilesInput = `{"type":"object","properties":{` +
	`"query":{"type":"string","description":"Text to search for in each line, or an RE2 regular expression if regex is true."},` +
	`"path":{"type":"string","description":"File or folder to search (default: the root folder)."},` +
	`"pattern":{"type":"string","description":"Glob pattern of the files to search, relative to path, such as **/*.log (default: all files at any depth)."},` +
	`"regex":{"type":"boolean","description":"Whether query is a regular expression (default: false)."},` +
	`"ignore_case":{"type":"boolean","description":"Whether to ignore case (default: false)."},` +
	`"max_results":{"type":"integer","minimum":1,"description":"Maximum number of lines to return; further ones are only counted (default: 50)."},` +
	`"context":{"type":"integer","minimum":0,"maximum":10,"description":"Number of lines to show before and after each match (default: 0)."}` +
	`},"required":["query"],"additionalProperties":false}`

const (
	someResults = 50
	maxContext  = 10
	maxShown    = 40 << 10 // bytes of lines, regardless of their number
	maxCounts   = 15       // files with reported totals
)

type searchFiles struct {
	info       tool.Info
	folder     *sandboxfs.Folder
	maxResults int
}

var _ tool.Tool = (*searchFiles)(nil)

func newSearchFiles(c *SearchFilesConfig, s tool.Settings) (tool.Tool, error) {
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	return &searchFiles{toolInfo(s, "search_files",
		"Searches text files and returns matching lines as file:line: text. Handles files of any size, such as logs. If there are more matches than the limit, it returns the number of matches per file.",
		searchFilesInput, tool.ReadEffect), f, c.MaxResults}, nil
}

// Info implements tool.Tool.
func (t *searchFiles) Info() tool.Info { return t.info }

type searchArgs struct {
	Query      string `json:"query"`
	Path       string `json:"path"`
	Pattern    string `json:"pattern"`
	Regex      bool   `json:"regex"`
	IgnoreCase bool   `json:"ignore_case"`
	MaxResults int    `json:"max_results"`
	Context    int    `json:"context"`
}

// Call implements tool.Tool.
func (t *searchFiles) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[searchArgs](ctx, call)
	if err != nil {
		return nil, err
	}
	if args.Context < 0 {
		return nil, errors.New(`argument "context" must not be negative`)
	}
	most, err := within("max_results", args.MaxResults, someResults, t.maxResults)
	if err != nil {
		return nil, err
	}
	matcher, err := grep.Compile(grep.Query{
		Text: args.Query, Regexp: args.Regex, IgnoreCase: args.IgnoreCase, Context: min(args.Context, maxContext),
	})
	if err != nil {
		return nil, err
	}
	glob, err := sandboxfs.ParseGlob(cmp.Or(args.Pattern, "**"))
	if err != nil {
		return nil, err
	}
	tree, path, err := openFile(t.folder, call, args.Path)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	s := &search{tree: tree, matcher: matcher, left: most}
	if err := s.all(ctx, path, glob); err != nil {
		return nil, err
	}
	return &tool.Output{Text: s.text(args)}, nil
}

// search is the state of one call.
type search struct {
	tree       *sandboxfs.Tree
	matcher    *grep.Matcher
	out        strings.Builder
	left       int  // lines that may still be shown
	full       bool // the output is full
	linesShown int
	total      int
	files      int
	skipped    int // number of files that are not text
	counts     []fileCount
}

type fileCount struct {
	path string
	n    int
}

// all searches a file, or the files below a folder.
func (s *search) all(ctx context.Context, path string, glob sandboxfs.Glob) error {
	info, err := s.tree.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return s.file(ctx, path)
	}
	return s.tree.Walk(ctx, path, glob, func(e sandboxfs.Entry) error {
		if e.Dir {
			return nil
		}
		// A file that cannot be read must not hide matches in others.
		if err := s.file(ctx, e.Path); err != nil && ctx.Err() != nil {
			return err
		}
		return nil
	})
}

func (s *search) file(ctx context.Context, path string) error {
	f, _, err := s.tree.File(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s.files++
	if s.full {
		s.left = 0
	}
	before := s.linesShown
	n, err := s.matcher.Scan(ctx, f, s.left, func(l grep.Line) { s.show(path, l) })
	if errors.Is(err, grep.ErrBinary) {
		s.skipped++
		return nil
	}
	if n > 0 {
		s.total += n
		s.left = max(0, s.left-(s.linesShown-before))
		s.count(path, n)
	}
	return err
}

// show appends one line, until the output is full.
func (s *search) show(path string, l grep.Line) {
	mark := "-"
	if l.Match {
		mark = ":"
	}
	line := fmt.Sprintf("%s%s%d%s %s\n", sandboxfs.DisplayPath(path), mark, l.Number, mark, l.Text)
	if s.full = s.full || s.out.Len()+len(line) > maxShown; s.full {
		return
	}
	if l.Gap {
		s.out.WriteString("--\n")
	}
	s.out.WriteString(line)
	if l.Match {
		s.linesShown++
	}
}

// count records the files with the most matches.
func (s *search) count(path string, n int) {
	s.counts = append(s.counts, fileCount{path, n})
	if len(s.counts) < 100*maxCounts {
		return
	}
	s.rank()
}

func (s *search) rank() {
	slices.SortStableFunc(s.counts, func(a, b fileCount) int { return cmp.Compare(b.n, a.n) })
	s.counts = s.counts[:min(len(s.counts), maxCounts)]
}

func (s *search) text(args searchArgs) string {
	if s.total == 0 {
		text := fmt.Sprintf("no line of %s contains %q", text.Count(s.files, "file"), args.Query)
		if !args.IgnoreCase {
			text += `; "ignore_case": true finds other spellings`
		}
		return text + s.binaries()
	}
	if s.linesShown == s.total {
		return s.out.String() + fmt.Sprintf("[%s in %s%s]", text.Count(s.total, "matching line"), text.Count(s.files, "file"), s.binaries())
	}
	s.rank()
	fmt.Fprintf(&s.out, "[%d of %d matching lines shown%s; narrow the query, path or pattern. Lines by file: ", s.linesShown, s.total, s.binaries())
	for i, c := range s.counts {
		if i > 0 {
			s.out.WriteString(", ")
		}
		fmt.Fprintf(&s.out, "%s %d", sandboxfs.DisplayPath(c.path), c.n)
	}
	s.out.WriteString("]")
	return s.out.String()
}

func (s *search) binaries() string {
	if s.skipped == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not searched: no text", text.Count(s.skipped, "file"))
}
