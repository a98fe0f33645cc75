package bleve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/pexctl/pex/internal/sandboxfs"
	"github.com/pexctl/pex/providers/bleve/chunk"
	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// Limits of one folder. At the limits a call takes about 0.4 s and 190 MB of memory.
const (
	maxFiles = 20_000
	maxTotal = 200 << 20 // bytes
	maxFile  = 16 << 20  // bytes of one file

	manyFiles = 200 // number of changed files from which progress is reported
	utf8BOM   = "\xef\xbb\xbf"
)

// fileStat is a file found by the walk.
type fileStat struct {
	path           string
	size, modified int64
}

// refresh updates the index: it reads new and changed files and drops deleted ones.
func (l *corpus) refresh(ctx context.Context, tree *sandboxfs.Tree, progress func(string)) error {
	found, err := l.walk(ctx, tree)
	if err != nil {
		return err
	}
	var changed []fileStat
	exists := make(map[string]bool, len(found))
	for _, s := range found {
		exists[s.path] = true
		if f := l.index.Files()[s.path]; f == nil || f.Size != s.size || f.Modified != s.modified {
			changed = append(changed, s)
		}
	}
	for path := range l.index.Files() {
		if !exists[path] {
			l.index.Drop(path)
		}
	}
	if len(changed) >= manyFiles {
		progress(fmt.Sprintf("indexing %d files", len(changed)))
	}
	return l.readAll(ctx, tree, changed)
}

// walk lists the matching files.
func (l *corpus) walk(ctx context.Context, tree *sandboxfs.Tree) (out []fileStat, err error) {
	total := int64(0)
	err = tree.Walk(ctx, ".", l.pattern, func(e sandboxfs.Entry) error {
		if e.Dir {
			return nil
		}
		out = append(out, fileStat{e.Path, e.Size, e.Modified.UnixNano()})
		if e.Size <= maxFile {
			total += e.Size
		}
		if len(out) > maxFiles || total > maxTotal {
			return fmt.Errorf("more than %d files or %d MB to search; narrow the root or pattern in the tool's configuration", maxFiles, maxTotal>>20)
		}
		return nil
	})
	return out, err
}

// readAll indexes files. If interrupted, most of those read so far stay indexed.
func (l *corpus) readAll(ctx context.Context, tree *sandboxfs.Tree, list []fileStat) error {
	l.unreadable = 0
	for _, s := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		file, passages, err := l.read(tree, s.path)
		if err != nil {
			l.unreadable++
			l.index.Drop(s.path)
			continue
		}
		if err := l.index.Put(file, passages); err != nil {
			return err
		}
	}
	return l.index.Flush()
}

// read reads one file and splits it into passages.
func (l *corpus) read(tree *sandboxfs.Tree, path string) (index.File, []index.Passage, error) {
	f, info, err := tree.File(path)
	if err != nil {
		return index.File{}, nil, err
	}
	defer f.Close()
	file := index.File{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if info.Size() > maxFile {
		file.Skip = index.TooLarge
		return file, nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return file, nil, err
	case len(raw) > maxFile:
		file.Skip = index.TooLarge
		return file, nil, nil
	case bytes.IndexByte(raw, 0) >= 0:
		file.Skip = index.NoText
		return file, nil, nil
	case int64(len(raw)) != file.Size:
		// The file is being modified; the next call sees a different modification time.
		return file, nil, errChanged
	}
	return file, l.split(path, string(raw)), nil
}

// split returns the passages of a text.
func (l *corpus) split(name, text string) (out []index.Passage) {
	skip := len(text)
	text = strings.TrimPrefix(text, utf8BOM)
	skip -= len(text)
	o := l.chunk
	o.Format = formatOf(name)
	title := strings.ReplaceAll(strings.TrimSuffix(name, path.Ext(name)), "/", " ")
	for _, p := range chunk.Split(text, o) {
		out = append(out, index.Passage{
			Place: index.Place{Start: p.Start, End: p.End, From: p.From + skip, To: p.To + skip, Heading: p.Heading},
			Text:  text[p.From:p.To], Context: []string{p.Heading, title},
		})
	}
	return out
}

// formatOf returns the heading format for a file name extension.
func formatOf(name string) chunk.Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		return chunk.Markdown
	case ".rst":
		return chunk.ReStructured
	case ".adoc", ".asciidoc":
		return chunk.ASCIIDoc
	case ".org":
		return chunk.Org
	}
	return chunk.Plain
}
