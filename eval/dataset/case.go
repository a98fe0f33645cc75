package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/suitespec"
)

// Case is one row of a dataset.
type Case struct {
	ID     string
	Line   int    // first line in its file; 0 = unknown
	Group  string // "" = a cluster of its own
	Tags   []string
	Weight float64        // 0 = 1
	Row    map[string]any // by column, numbers as jsonvalue.Plain has them; strings only, in CSV
}

// Cases iterates over cases. It may be used several times. An error ends the iteration.
type Cases func() iter.Seq2[Case, error]

// Source is the dataset of a suite.
type Source struct {
	Dataset *suitespec.Dataset
	Name    string // of the file in messages; "" = its base name
}

// maxID is the maximum length of a case's id in bytes.
const maxID = 256

// The range of weights. Values outside of it are mistakes, since sums of such weights are meaningless.
const (
	minWeight = 1e-6
	maxWeight = 1e6
)

// row is a row of a file.
type row struct {
	line   int
	values map[string]any
}

// Cases reads the dataset from its start.
func (s Source) Cases() iter.Seq2[Case, error] {
	return func(yield func(Case, error) bool) {
		ids := idSet{seed: maphash.MakeSeed(), lines: map[uint64]int{}}
		n := 0
		for r, err := range s.rows() {
			var c Case
			var named bool
			if err == nil {
				n++
				c, named, err = s.caseOf(r)
			}
			if err == nil {
				err = ids.add(&c, named, n)
			}
			if err != nil {
				yield(Case{}, s.at(r.line, err))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (s Source) rows() iter.Seq2[row, error] {
	d := s.Dataset
	switch {
	case d.File == "":
		return inline(d)
	case d.Format == "csv":
		return fromFile(d.File, csvRows)
	case d.Format == "yaml":
		return fromFile(d.File, s.yamlRows)
	default:
		return fromFile(d.File, jsonlRows)
	}
}

// at adds the position to an error.
func (s Source) at(line int, err error) error {
	name := s.name()
	if line > 0 {
		return fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (s Source) name() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Dataset.File == "":
		return "dataset.rows"
	}
	return filepath.Base(s.Dataset.File)
}

func inline(d *suitespec.Dataset) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for i, values := range d.Rows {
			line := d.Position.Line
			if i < len(d.Lines) {
				line = d.Lines[i]
			}
			if !yield(row{line, values}, nil) {
				return
			}
		}
	}
}

// caseOf builds a case from a row. named reports whether the row has an id.
func (s Source) caseOf(r row) (c Case, named bool, err error) {
	d := s.Dataset
	c = Case{Line: r.line, Row: r.values}
	for _, column := range []string{d.ID, d.Group, d.Weight, d.Tags} {
		if _, there := r.values[column]; column != "" && !there {
			return c, false, fmt.Errorf("the row has no column %s", column)
		}
	}
	if c.ID, err = word(r, cmp.Or(d.ID, "id")); err != nil {
		return c, false, err
	}
	if c.Group, err = word(r, cmp.Or(d.Group, "group")); err != nil {
		return c, false, err
	}
	if c.Weight, err = weight(r, cmp.Or(d.Weight, "weight")); err != nil {
		return c, false, err
	}
	if c.Tags, err = tags(r, cmp.Or(d.Tags, "tags")); err != nil {
		return c, false, err
	}
	switch {
	case c.ID == "" && d.ID != "":
		return c, false, fmt.Errorf("column %s is empty, but it is the id of the case", d.ID)
	case len(c.ID) > maxID:
		return c, false, fmt.Errorf("the id has %d bytes; the maximum is %d", len(c.ID), maxID)
	case c.ID == "":
		c.ID, err = hashID(r.values)
		return c, false, err
	}
	return c, true, nil
}

// word returns a scalar value as text.
func word(r row, name string) (string, error) {
	switch v := r.values[name].(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return "", fmt.Errorf("column %s must be text, not a list or a mapping", name)
}

func weight(r row, name string) (float64, error) {
	v, w := r.values[name], 0.0
	switch v := v.(type) {
	case nil:
		return 0, nil
	case int:
		w = float64(v)
	case float64:
		w = v
	case string:
		if strings.TrimSpace(v) == "" {
			return 0, nil
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			return 0, fmt.Errorf("column %s: %q is not a number", name, v)
		}
		w = f
	default:
		return 0, fmt.Errorf("column %s is not a number", name)
	}
	if !(w >= minWeight && w <= maxWeight) {
		return 0, fmt.Errorf("column %s: a weight must be from %g to %g, not %v", name, minWeight, maxWeight, v)
	}
	return w, nil
}

// tags parses a list of words, or words separated by commas.
func tags(r row, name string) (out []string, err error) {
	switch v := r.values[name].(type) {
	case nil:
		return nil, nil
	case string:
		for w := range strings.SplitSeq(v, ",") {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, w)
			}
		}
		return out, nil
	case []any:
		for _, e := range v {
			w, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("column %s: each tag must be text", name)
			}
			out = append(out, w)
		}
		return out, nil
	}
	return nil, fmt.Errorf("column %s: tags must be a list, or words separated by commas", name)
}

// hashID returns the id of a row without one, derived from its values.
func hashID(values map[string]any) (string, error) {
	b, err := json.Marshal(values) // keys are sorted
	if err != nil {
		return "", fmt.Errorf("cannot encode the row as JSON: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6]), nil
}

// idSet finds duplicate ids. It stores only hashes, since datasets may be long.
type idSet struct {
	seed  maphash.Seed
	lines map[uint64]int
}

// add records the n-th case.
func (s *idSet) add(c *Case, named bool, n int) error {
	h, here, unit := maphash.String(s.seed, c.ID), c.Line, "line"
	if here == 0 {
		here, unit = n, "row"
	}
	before, twice := s.lines[h]
	switch {
	case !twice:
		s.lines[h] = here
		return nil
	case named:
		return fmt.Errorf("duplicate id %q, first used in %s %d", c.ID, unit, before)
	}
	return fmt.Errorf("duplicate of %s %d: remove one, or give each an id", unit, before)
}
