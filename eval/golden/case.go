package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Case gives access to the golden files of one test case. It must be used by one goroutine.
type Case struct {
	// Mask hides values that vary between runs. Nil means the default mask.
	Mask *Mask

	tree   *Tree
	owner  string
	rel    string // a folder, or the file of a single prompt
	folder *folder
	turn   *turn // nil if the case was not announced
	ended  bool
}

// Compare compares the artefacts of a run with the goldens, all at once, because masks
// number values across artefacts. Changes are in the order prompts, parameters, tools,
// trajectory, output. It never writes.
// partial reports that the case did not complete: goldens missing from got then do not count as unused.
func (c *Case) Compare(got []Artifact, partial bool) ([]Change, error) {
	c.turn.wait()
	mask := c.Mask
	if mask == nil {
		mask = &Mask{}
	}
	masked := mask.Apply(got)
	if isPromptFile(c.rel) {
		masked = onlyPrompts(masked)
	}
	files, err := c.files(masked)
	if err != nil {
		return nil, err
	}
	var out []Change
	for i, a := range masked {
		ch, err := c.compare(files[i], a)
		if err != nil {
			return nil, fmt.Errorf("golden %s: %w", files[i], withoutPath(err))
		}
		if ch.Kind != "" {
			out = append(out, ch)
		}
	}
	if !partial {
		c.end()
	}
	return out, nil
}

// Update is like Compare, and accepts every change.
func (c *Case) Update(got []Artifact, partial bool) ([]Change, error) {
	if c.tree.strict {
		return nil, ErrStrict
	}
	changes, err := c.Compare(got, partial)
	if err != nil {
		return nil, err
	}
	for i, ch := range changes {
		if err := ch.Accept(); err != nil {
			return changes[:i], err
		}
	}
	return changes, nil
}

// Close ends the comparisons of the case and unblocks the next one.
func (c *Case) Close() { c.turn.release() }

// wait blocks until the earlier cases of the folder are closed.
func (t *turn) wait() {
	if t != nil && t.prev != nil {
		<-t.prev.done
	}
}

// release lets the next case start. It first waits for this one's turn.
func (t *turn) release() {
	if t != nil {
		t.wait()
		t.once.Do(func() { close(t.done) })
	}
}

// end records that the case has requested all its goldens.
func (c *Case) end() {
	if c.ended {
		return
	}
	c.ended = true
	c.tree.mu.Lock()
	defer c.tree.mu.Unlock()
	c.folder.open--
}

// onlyPrompts returns the prompts of all, the only artefacts that a single file can hold.
func onlyPrompts(all []Artifact) []Artifact {
	var out []Artifact
	for _, a := range all {
		if place, _ := rank(a.Name); place == 0 {
			out = append(out, a)
		}
	}
	return out
}

// files claims the golden files of the artefacts and returns their paths relative to the root.
func (c *Case) files(got []Artifact) ([]string, error) {
	out := make([]string, len(got))
	for i, a := range got {
		place, _ := rank(a.Name)
		switch {
		case place < 0:
			return nil, fmt.Errorf("golden %s: unknown artefact %q", c.rel, a.Name)
		case i > 0 && got[i-1].Name == a.Name:
			return nil, fmt.Errorf("golden %s: duplicate artefact %s", c.rel, a.Name)
		case i > 0 && isPromptFile(c.rel):
			return nil, fmt.Errorf("golden %s holds one prompt, but %s renders several: use a folder", c.rel, c.owner)
		}
		out[i] = c.rel
		if !isPromptFile(c.rel) {
			out[i] = filepath.Join(c.rel, a.Name)
		}
		if err := c.tree.claim(out[i], c.owner, plainText(a.Text)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compare compares an artefact with its golden. The returned Change has no Kind if they are equal.
func (c *Case) compare(rel string, a Artifact) (Change, error) {
	ch := Change{Case: c.owner, Name: a.Name, File: filepath.Join(c.tree.dir, rel), Got: plainText(a.Text), tree: c.tree, rel: rel}
	var err error
	ch.Want, err = c.tree.read(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		ch.Kind = Missing
	case err != nil:
		return ch, err
	case ch.Want != ch.Got:
		ch.Kind = Changed
	}
	return ch, nil
}
