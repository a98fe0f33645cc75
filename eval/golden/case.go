package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Case is the golden files of one case, for use by one goroutine.
type Case struct {
	// Mask hides what varies between runs; nil = the default mask.
	Mask *Mask

	tree   *Tree
	owner  string
	rel    string // a folder, or a file
	folder *folder
	turn   *turn // nil = it was not announced
	ended  bool
}

// Compare compares the artefacts of a run with the goldens, all at once, because masks
// number values across artefacts. Changes are in the order prompts, parameters, tools,
// trajectory, output. It never writes.
//
// partial reports that the case did not complete: goldens that got lacks do not count as
// unused.
func (c *Case) Compare(got []Artifact, partial bool) ([]Change, error) {
	c.turn.wait()
	mask := c.Mask
	if mask == nil {
		mask = &Mask{}
	}
	masked := mask.Apply(got)
	if single(c.rel) {
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
			return nil, fmt.Errorf("golden %s: %w", files[i], plain(err))
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

// Update is Compare, and accepts every change.
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

// Close ends the comparisons of the case.
func (c *Case) Close() { c.turn.pass() }

// wait waits until the cases before have left.
func (t *turn) wait() {
	if t != nil && t.before != nil {
		<-t.before.done
	}
}

// pass gives the turn to the next case, once it is this one's.
func (t *turn) pass() {
	if t != nil {
		t.wait()
		t.once.Do(func() { close(t.done) })
	}
}

// end says that the case has asked for all its goldens.
func (c *Case) end() {
	if c.ended {
		return
	}
	c.ended = true
	c.tree.mu.Lock()
	defer c.tree.mu.Unlock()
	c.folder.open--
}

// onlyPrompts is what a single file can hold.
func onlyPrompts(all []Artifact) []Artifact {
	var out []Artifact
	for _, a := range all {
		if place, _ := rank(a.Name); place == 0 {
			out = append(out, a)
		}
	}
	return out
}

// files are where the goldens stand, below the root; the case owns them.
func (c *Case) files(got []Artifact) ([]string, error) {
	out := make([]string, len(got))
	for i, a := range got {
		place, _ := rank(a.Name)
		switch {
		case place < 0:
			return nil, fmt.Errorf("golden %s: no artefact is called %q", c.rel, a.Name)
		case i > 0 && got[i-1].Name == a.Name:
			return nil, fmt.Errorf("golden %s: %s was given twice", c.rel, a.Name)
		case i > 0 && single(c.rel):
			return nil, fmt.Errorf("golden %s holds one prompt, and %s renders several: name a folder", c.rel, c.owner)
		}
		out[i] = c.rel
		if !single(c.rel) {
			out[i] = filepath.Join(c.rel, a.Name)
		}
		if err := c.tree.claim(out[i], c.owner, plainText(a.Text)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compare is one artefact against its golden; a Change without Kind is none.
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
