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
	Line   int    // where it begins in its file; 0 = not known
	Group  string // "" = it is a cluster of its own
	Tags   []string
	Weight float64        // 0 = 1
	Row    map[string]any // by column, numbers as jsonvalue.Plain has them; of CSV all are text
}

// Cases gives cases one after another, and may be ranged over several times. An
// error ends it.
type Cases func() iter.Seq2[Case, error]

// Source is where the cases of a suite are.
type Source struct {
	Dataset *suitespec.Dataset
	Name    string // of the file in messages; "" = its base name
}

// maxID bounds the id of a case, in bytes.
const maxID = 256

// The bounds of weights: what is further apart is a slip, and no sum of such
// weights says anything.
const (
	minWeight = 1e-6
	maxWeight = 1e6
)

// row is what a file holds of a case.
type row struct {
	line   int
	values map[string]any
}

// Cases reads the dataset from its beginning.
func (s Source) Cases() iter.Seq2[Case, error] {
	return func(yield func(Case, error) bool) {
		seen := seenIDs{seed: maphash.MakeSeed(), lines: map[uint64]int{}}
		n := 0
		for r, err := range s.rows() {
			var c Case
			var named bool
			if err == nil {
				n++
				c, named, err = s.caseOf(r)
			}
			if err == nil {
				err = seen.add(&c, named, n)
			}
			if err != nil {
				yield(Case{}, s.wrong(r.line, err))
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

// wrong says where an error is.
func (s Source) wrong(line int, err error) error {
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

// caseOf takes from a row what names and sorts a case; named says that the row
// holds its id.
func (s Source) caseOf(r row) (c Case, named bool, err error) {
	d := s.Dataset
	c = Case{Line: r.line, Row: r.values}
	for _, said := range []string{d.ID, d.Group, d.Weight, d.Tags} {
		if _, there := r.values[said]; said != "" && !there {
			return c, false, fmt.Errorf("the row has no column %s", said)
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
		return c, false, fmt.Errorf("column %s is empty: it is what the case is known by", d.ID)
	case len(c.ID) > maxID:
		return c, false, fmt.Errorf("the id has %d bytes, %d are the most", len(c.ID), maxID)
	case c.ID == "":
		c.ID, err = hashed(r.values)
		return c, false, err
	}
	return c, true, nil
}

// word is a value that is one word or a number.
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
	return "", fmt.Errorf("column %s: a text is wanted, not a list or a mapping", name)
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
			return 0, fmt.Errorf("column %s: %q is no number", name, v)
		}
		w = f
	default:
		return 0, fmt.Errorf("column %s is no number", name)
	}
	if !(w >= minWeight && w <= maxWeight) {
		return 0, fmt.Errorf("column %s: a weight is a number from %g to %g, this is %v", name, minWeight, maxWeight, v)
	}
	return w, nil
}

// tags are a list of words, or words divided by commas.
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
				return nil, fmt.Errorf("column %s: a tag is a word", name)
			}
			out = append(out, w)
		}
		return out, nil
	}
	return nil, fmt.Errorf("column %s: tags are a list, or words divided by commas", name)
}

// hashed is the name of a row that has none: the same for the same values.
func hashed(values map[string]any) (string, error) {
	b, err := json.Marshal(values) // keys are sorted
	if err != nil {
		return "", fmt.Errorf("the row has no JSON form: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6]), nil
}

// seenIDs finds ids that stand twice: it keeps hashes of them, for a dataset
// may be long.
type seenIDs struct {
	seed  maphash.Seed
	lines map[uint64]int
}

// add notes the n-th case.
func (s *seenIDs) add(c *Case, named bool, n int) error {
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
		return fmt.Errorf("the id %q is that of %s %d already", c.ID, unit, before)
	}
	return fmt.Errorf("duplicate of %s %d: remove one, or give each an id", unit, before)
}
