package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// ReadFileConfig configures read_file.
type ReadFileConfig struct {
	Root     string   `yaml:"root" path:"relative" doc:"Folder whose files can be read, relative to this file. Default: the spec's folder."`
	Exclude  []string `yaml:"exclude" doc:"Names of files and folders that cannot be accessed, at any depth. Shell wildcards such as * are allowed."`
	MaxBytes int      `yaml:"max_bytes" min:"100" max:"16777216" doc:"Maximum number of bytes per call. Further calls read the rest."`
}

// Access implements tool.AccessDescriber.
func (*ReadFileConfig) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *ReadFileConfig) NeedsHost() string { return tool.FilesBelow(c.Root) }

// ReadsFiles implements tool.FileReader.
func (c *ReadFileConfig) ReadsFiles() (root string, given bool) { return c.Root, true }

// ReadFile reads text files below a folder.
var ReadFile = component.New("read_file", "Reads a text file below a folder; long files in parts.",
	func() ReadFileConfig { return ReadFileConfig{Exclude: sandboxfs.Hidden(), MaxBytes: 48 << 10} }, newReadFile)

const readFileInput = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"Path of the file, relative to the root folder, such as notes/today.txt."},` +
	`"offset":{"type":"integer","minimum":1,"description":"First line to read, starting at 1 (default: 1)."},` +
	`"limit":{"type":"integer","minimum":1,"description":"Maximum number of lines to read (optional)."}` +
	`},"required":["path"],"additionalProperties":false}`

type readFile struct {
	info     tool.Info
	folder   *sandboxfs.Folder
	maxBytes int
}

var _ tool.Tool = (*readFile)(nil)

func newReadFile(c *ReadFileConfig, s tool.Settings) (tool.Tool, error) {
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	return &readFile{toolInfo(s, "read_file",
		"Reads a text file. A long file is returned in parts, with the line range and how to read the next part. Cannot read binary files.",
		readFileInput, tool.ReadEffect), f, c.MaxBytes}, nil
}

// Info implements tool.Tool.
func (t *readFile) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *readFile) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}](ctx, call)
	if err != nil {
		return nil, err
	}
	if args.Path == "" {
		return nil, errors.New(`argument "path" is missing; pass the path of a file`)
	}
	if args.Offset < 0 || args.Limit < 0 {
		return nil, errors.New(`"offset" and "limit" count lines and must be positive`)
	}
	tree, path, err := openFile(t.folder, call, args.Path)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	f, info, err := tree.File(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	part := excerpt{from: max(args.Offset, 1), lines: args.Limit, maxBytes: t.maxBytes}
	if err := part.read(ctx, f); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	text, err := part.text(info.Size())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return &tool.Output{Text: text}, nil
}

// excerpt is a range of lines of a file.
type excerpt struct {
	from, lines int // first line; maximum number of lines, 0 = no limit
	maxBytes    int // bytes

	out   bytes.Buffer
	next  int  // number of the next line to read
	last  int  // number of the last line read
	more  bool // the file continues after it
	split bool // its last line is truncated
}

var errBinary = errors.New("it is not a text file")

// read skips the lines before the excerpt and stores those in it. It does not read the
// rest of the file.
func (e *excerpt) read(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	start, err := in.Peek(8 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return errBinary
	}
	if bytes.HasPrefix(start, []byte("\xEF\xBB\xBF")) {
		_, _ = in.Discard(3) // the bytes have been peeked
	}
	e.next = 1
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := in.ReadSlice('\n')
		if len(piece) > 0 {
			e.last = e.next
		}
		if len(piece) > 0 && !e.take(piece) {
			e.more = true
			return nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return err
		default:
			e.next++
		}
	}
}

// take adds a line, or part of one. It returns false if the excerpt is complete.
func (e *excerpt) take(piece []byte) bool {
	switch {
	case e.next < e.from:
		return true
	case e.lines > 0 && e.next-e.from >= e.lines:
		return false
	}
	room := e.maxBytes - e.out.Len()
	if len(piece) <= room {
		e.out.Write(piece)
		return true
	}
	// The excerpt ends with a complete line, unless a single line is too long.
	if last := bytes.LastIndexByte(e.out.Bytes(), '\n') + 1; last > 0 {
		e.out.Truncate(last)
		return false
	}
	e.out.Write(piece[:room])
	e.split = true
	return false
}

// text returns the excerpt with a last line that describes what was omitted.
func (e *excerpt) text(size int64) (string, error) {
	text := strings.ToValidUTF8(e.out.String(), "\uFFFD")
	switch {
	case e.split:
		return fmt.Sprintf("%s\n[line %d is longer than %d bytes and was truncated here; the file has %d bytes. Search it or query it instead, or read on with \"offset\": %d]",
			text, e.next, e.maxBytes, size, e.next+1), nil
	case e.more:
		return fmt.Sprintf("%s[lines %d to %d of a file of %d bytes; read on with \"offset\": %d]", text, e.from, e.next-1, size, e.next), nil
	case text == "" && e.from > 1:
		return "", fmt.Errorf("line %d does not exist: the file ends with line %d", e.from, e.last)
	case text == "" && size == 0:
		return "[the file is empty]", nil
	}
	return text, nil
}

// openFile returns the tree that contains the file, and the path in it. That is the tool's
// folder or, if the user passed a file with that exact name to the run, the file's
// folder, wherever it is. The tree is for reading only. The caller closes it.
func openFile(f *sandboxfs.Folder, call *tool.Call, name string) (*sandboxfs.Tree, string, error) {
	if file, ok := call.Files[name]; ok {
		return givenFile(file)
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

// givenFile returns the folder of a file that the user passed to the run, and its name. Links
// are followed, because the user named the file.
func givenFile(file string) (*sandboxfs.Tree, string, error) {
	whole, err := filepath.EvalSymlinks(file)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok { // the path may be one of the home
			err = p.Err
		}
		return nil, "", fmt.Errorf("the file was passed to the run but no longer exists: %w", err)
	}
	dir, name := filepath.Split(whole)
	f, err := sandboxfs.New(tool.Settings{Dir: dir, Root: dir}, "", nil)
	if err != nil {
		return nil, "", err
	}
	tree, err := f.Open()
	return tree, name, err
}
