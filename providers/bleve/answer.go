package bleve

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// maxAnswerBytes is the maximum size of the passages in one answer.
const maxAnswerBytes = 48 << 10

// answer is the result of one search.
type answer struct {
	hits     []index.Hit
	limit    int
	files    int
	notes    []string
	passages []shownPassage
}

// shownPassage is a passage with its text.
type shownPassage struct {
	Path    string  `json:"path"`
	Start   int     `json:"start_line"`
	End     int     `json:"end_line"`
	Heading string  `json:"heading"`
	Score   float64 `json:"score"`
	Text    string  `json:"text"`
}

// read reads the texts of the hits. It returns false if a file has changed since it was
// indexed.
func (a *answer) read(tree *sandboxfs.Tree) bool {
	room := maxAnswerBytes
	for _, h := range a.hits {
		p := h.Place
		text, err := textOf(tree, h.File, p)
		if err != nil {
			return false
		}
		if room -= len(text); room < 0 && len(a.passages) > 0 {
			a.notes = append(a.notes, fmt.Sprintf("%d of %d passages shown: output limit reached", len(a.passages), len(a.hits)))
			break
		}
		a.passages = append(a.passages, shownPassage{h.File.Path, p.Start, p.End, p.Heading, math.Round(h.Score*1e4) / 1e4, text})
	}
	return true
}

var errChanged = errors.New("the file has changed")

// textOf reads a passage of a file that has not changed since it was indexed.
func textOf(tree *sandboxfs.Tree, f *index.File, p index.Place) (string, error) {
	r, info, err := tree.File(f.Path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if info.Size() != f.Size || info.ModTime().UnixNano() != f.Modified {
		return "", errChanged
	}
	b := make([]byte, max(0, p.To-p.From))
	if n, err := r.ReadAt(b, int64(p.From)); n < len(b) || err != nil && !errors.Is(err, io.EOF) {
		return "", errChanged
	}
	return normalizeText(string(b)), nil
}

// normalizeText normalizes line breaks and invalid UTF-8 for models.
func normalizeText(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
}

// output formats the answer as text and as data.
func (a *answer) output(query string) (*tool.Output, error) {
	var b strings.Builder
	switch {
	case a.files == 0:
		b.WriteString("there are no files to search")
	case len(a.passages) == 0:
		fmt.Fprintf(&b, "no passage in %s matches %q; try other words that the files may contain", text.Count(a.files, "file"), query)
		a.passages = []shownPassage{}
	default:
		fmt.Fprintf(&b, "Best matches in %s. Cite the passages you use as path:lines.\n", text.Count(a.files, "file"))
	}
	for i, f := range a.passages {
		lines := fmt.Sprint(f.Start)
		if f.End > f.Start {
			lines += fmt.Sprintf("-%d", f.End)
		}
		fmt.Fprintf(&b, "\n[%d] %s:%s", i+1, sandboxfs.DisplayPath(f.Path), lines)
		if f.Heading != "" {
			fmt.Fprintf(&b, " (%s)", f.Heading)
		}
		fmt.Fprintf(&b, "\n%s\n", f.Text)
	}
	if len(a.notes) > 0 {
		fmt.Fprintf(&b, "\n[%s]", strings.Join(a.notes, "; "))
	}
	data, err := jsonvalue.Marshal(a.passages)
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Data: data}, err
}
