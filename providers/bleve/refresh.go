package bleve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/pexctl/pex/internal/folder"
	"github.com/pexctl/pex/providers/bleve/passage"
	"github.com/pexctl/pex/providers/bleve/shelf/index"
)

// The bounds of one folder: what is searched and kept within them takes some
// 100 ms a call and some 100 MB of memory.
const (
	maxFiles = 20_000
	maxTotal = 200 << 20 // bytes
	maxFile  = 16 << 20  // bytes of one file

	manyFiles = 200 // of which it is told that they are indexed
	mark      = "\xef\xbb\xbf"
)

// seen is a file as the walk found it.
type seen struct {
	path           string
	size, modified int64
}

// refresh brings the index up to the files: new and changed ones are read,
// those that are gone are dropped.
func (l *library) refresh(ctx context.Context, tree *folder.Tree, progress func(string)) error {
	found, err := l.walk(ctx, tree)
	if err != nil {
		return err
	}
	var changed []seen
	there := make(map[string]bool, len(found))
	for _, s := range found {
		there[s.path] = true
		if f := l.index.Files()[s.path]; f == nil || f.Size != s.size || f.Modified != s.modified {
			changed = append(changed, s)
		}
	}
	for path := range l.index.Files() {
		if !there[path] {
			l.index.Drop(path)
		}
	}
	if len(changed) >= manyFiles {
		progress(fmt.Sprintf("indexing %d files", len(changed)))
	}
	return l.readAll(ctx, tree, changed)
}

// walk lists the files that fit.
func (l *library) walk(ctx context.Context, tree *folder.Tree) (out []seen, err error) {
	total := int64(0)
	err = tree.Walk(ctx, ".", l.pattern, func(e folder.Entry) error {
		if e.Dir {
			return nil
		}
		out = append(out, seen{e.Path, e.Size, e.Modified.UnixNano()})
		if e.Size <= maxFile {
			total += e.Size
		}
		if len(out) > maxFiles || total > maxTotal {
			return fmt.Errorf("there are more than %d files or %d MB to search; the author of this tool has to narrow its root or its pattern", maxFiles, maxTotal>>20)
		}
		return nil
	})
	return out, err
}

// readAll indexes files. When it is cut, most of those that were read stay.
func (l *library) readAll(ctx context.Context, tree *folder.Tree, list []seen) error {
	l.unread = 0
	for _, s := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		file, passages, err := l.read(tree, s.path)
		if err != nil {
			l.unread++
			l.index.Drop(s.path)
			continue
		}
		if err := l.index.Put(file, passages); err != nil {
			return err
		}
	}
	return l.index.Flush()
}

// read reads one file as it is now, with its passages.
func (l *library) read(tree *folder.Tree, path string) (index.File, []index.Passage, error) {
	f, info, err := tree.File(path)
	if err != nil {
		return index.File{}, nil, err
	}
	defer f.Close()
	file := index.File{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if info.Size() > maxFile {
		file.Left = index.TooLarge
		return file, nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return file, nil, err
	case len(raw) > maxFile:
		file.Left = index.TooLarge
		return file, nil, nil
	case bytes.IndexByte(raw, 0) >= 0:
		file.Left = index.NoText
		return file, nil, nil
	case int64(len(raw)) != file.Size:
		// It changes at this moment; the next call sees another time.
		return file, nil, errChanged
	}
	return file, l.cut(path, string(raw)), nil
}

// cut lists the passages of a text.
func (l *library) cut(name, text string) (out []index.Passage) {
	skip := len(text)
	text = strings.TrimPrefix(text, mark)
	skip -= len(text)
	o := l.chunk
	o.Format = formatOf(name)
	called := strings.ReplaceAll(strings.TrimSuffix(name, path.Ext(name)), "/", " ")
	for _, p := range passage.Split(text, o) {
		out = append(out, index.Passage{
			Place: index.Place{Start: p.Start, End: p.End, From: p.From + skip, To: p.To + skip, Heading: p.Heading},
			Text:  text[p.From:p.To], Context: []string{p.Heading, called},
		})
	}
	return out
}

// formatOf is what the ending of a file's name says of its headings.
func formatOf(name string) passage.Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		return passage.Markdown
	case ".rst":
		return passage.ReStructured
	case ".adoc", ".asciidoc":
		return passage.ASCIIDoc
	case ".org":
		return passage.Org
	}
	return passage.Plain
}
