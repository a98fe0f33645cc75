package diff

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// mostOpened is the maximum size of an opened file to compare, mostShown the
// maximum size of a program to show as a diff.
const (
	mostOpened = 64 << 20
	mostShown  = 64 << 10
)

// compareOpened compares the files that a component opens itself (a recording, a
// database, a program) and the files of folders that it reads, if both specs name
// the same one. It skips what a tool writes.
func (c *comparison) compareOpened(path string, a, b dsl.Value) {
	each(b, path, func(at string, v dsl.Value) {
		key, program := openedBy(at, path)
		was := c.old.spec
		text := v.Text()
		if key == "" || was == nil || text == "" || !v.IsText() || strings.Contains(text, "${") || !slices.Contains(valuesAt(a, path, at), text) {
			return
		}
		if key == "root" {
			if t := c.now.tool(strings.TrimPrefix(path, "tools.")); t != nil && t.Effect != tool.WriteEffect {
				c.folder(at, text, v, b)
			}
			return
		}
		dir := ""
		if program {
			dir = filepath.FromSlash(b.Get("cwd").Text())
		}
		c.file(at, filepath.Join(dir, filepath.FromSlash(text)), v, program)
	})
}

// openedBy returns the key whose value is a path, and whether it is part of a
// command. It returns "" if there is none.
func openedBy(at, path string) (key string, program bool) {
	key, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(at, path+"."), "options."), "[")
	switch key {
	case "argv", "command", "args":
		return key, true
	case "file", "path", "root":
		return key, false
	}
	return "", false
}

// valuesAt returns the texts of an entry at a path.
func valuesAt(v dsl.Value, path, want string) (out []string) {
	each(v, path, func(at string, v dsl.Value) {
		if at == want {
			out = append(out, v.Text())
		}
	})
	return out
}

// file compares a file of both sides. A name without a file on either side is an
// ordinary word.
func (c *comparison) file(at, name string, v dsl.Value, program bool) {
	before, was := c.old.open(name)
	after, is := c.now.open(name)
	if !was && !is || was == is && bytes.Equal(before, after) {
		return
	}
	x := Change{Path: at, Kind: Changed, Old: extent(before, was), New: extent(after, is), Note: "the contents of the file changed", At: placeOf(v.Place())}
	if program {
		x.Note = "the program changed"
		if len(before) <= mostShown && len(after) <= mostShown && utf8.Valid(before) && utf8.Valid(after) {
			x.Before, x.After = string(before), string(after)
		}
	}
	c.add(x)
}

// open reads a file by its path relative to the spec's folder. It returns false
// if it cannot be read.
func (s *side) open(name string) ([]byte, bool) {
	if filepath.IsAbs(name) {
		return nil, false
	}
	text, err := s.spec.Read(filepath.Join(s.spec.Dir, name), mostOpened)
	return text, err == nil
}

// extent returns the size of a file, in lines if it is text.
func extent(file []byte, known bool) string {
	switch {
	case !known:
		return "no file"
	case utf8.Valid(file) && bytes.IndexByte(file, 0) < 0:
		return text.Count(strings.Count(withLineEnd(string(file)), "\n"), "line")
	}
	return text.Count(len(file), "byte")
}
