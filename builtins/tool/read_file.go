package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// ReadFileConfig is the settings of read_file.
type ReadFileConfig struct {
	Root     string   `yaml:"root" path:"relative" doc:"Folder whose files can be read, relative to this file. Default: the spec's folder."`
	Exclude  []string `yaml:"exclude" doc:"Names of files and folders that cannot be accessed, at any depth. Shell wildcards such as * are allowed."`
	MaxBytes int      `yaml:"max_bytes" min:"100" max:"16777216" doc:"Maximum number of bytes per call. Further calls read the rest."`
}

// Access implements tool.AccessDescriber: nothing.
func (*ReadFileConfig) Access() []string { return nil }

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
	info   tool.Info
	folder *sandboxfs.Folder
	most   int
}

var _ tool.Tool = (*readFile)(nil)

func newReadFile(c *ReadFileConfig, s tool.Settings) (tool.Tool, error) {
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	return &readFile{about(s, "read_file",
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
	tree, path, err := opened(t.folder, call, args.Path)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	f, info, err := tree.File(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	part := excerpt{from: max(args.Offset, 1), lines: args.Limit, most: t.most}
	if err := part.read(ctx, f); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	text, err := part.text(info.Size())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return &tool.Output{Text: text}, nil
}

// excerpt is some lines of a file.
type excerpt struct {
	from, lines int // first line; how many at most, 0 = no bound
	most        int // bytes

	out   bytes.Buffer
	next  int  // number of the line that is read next
	last  int  // number of the last line that was read
	more  bool // the file goes on after it
	split bool // its last line is cut
}

var errBinary = errors.New("it is not a text file, so it is not read")

// read passes over the lines before the excerpt and keeps those in it. The
// rest of the file is not looked at.
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
		_, _ = in.Discard(3) // they were peeked at
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

// take keeps a line, or a piece of one; false = it does not belong here any more.
func (e *excerpt) take(piece []byte) bool {
	switch {
	case e.next < e.from:
		return true
	case e.lines > 0 && e.next-e.from >= e.lines:
		return false
	}
	room := e.most - e.out.Len()
	if len(piece) <= room {
		e.out.Write(piece)
		return true
	}
	// What is kept ends with a whole line, unless that one line is too long.
	if last := bytes.LastIndexByte(e.out.Bytes(), '\n') + 1; last > 0 {
		e.out.Truncate(last)
		return false
	}
	e.out.Write(piece[:room])
	e.split = true
	return false
}

// text is the excerpt with a last line that says what was left out.
func (e *excerpt) text(size int64) (string, error) {
	text := strings.ToValidUTF8(e.out.String(), "\uFFFD")
	switch {
	case e.split:
		return fmt.Sprintf("%s\n[line %d is longer than %d bytes and was cut here; the file has %d bytes. Search it or query it instead, or read on with \"offset\": %d]",
			text, e.next, e.most, size, e.next+1), nil
	case e.more:
		return fmt.Sprintf("%s[lines %d to %d of a file of %d bytes; read on with \"offset\": %d]", text, e.from, e.next-1, size, e.next), nil
	case text == "" && e.from > 1:
		return "", fmt.Errorf("there is no line %d: the file ends with line %d", e.from, e.last)
	case text == "" && size == 0:
		return "[the file is empty]", nil
	}
	return text, nil
}

// opened is the tree that a path is looked up in, and the path there: those of
// the tool's folder, or, where the user gave the run a file by that very name,
// those of the file, wherever it lies. It is for reading only. The caller closes
// the tree.
func opened(f *sandboxfs.Folder, call *tool.Call, name string) (*sandboxfs.Tree, string, error) {
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
func given(file string) (*sandboxfs.Tree, string, error) {
	whole, err := filepath.EvalSymlinks(file)
	if err != nil {
		return nil, "", fmt.Errorf("the file was given to the run, and is not there any more: %w", err)
	}
	dir, name := filepath.Split(whole)
	f, err := sandboxfs.New(tool.Settings{Dir: dir, Root: dir}, "", nil)
	if err != nil {
		return nil, "", err
	}
	tree, err := f.Open()
	return tree, name, err
}
