package html

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/eval/trial"
)

// Limits of a chunk, in rows and in bytes.
const (
	chunkRows  = 100
	chunkBytes = 1 << 20
)

// trials writes the rows in chunks: an element with their details and one with their
// index, in the same order.
func (p *page) trials(rows trial.Rows) error {
	c := chunk{page: p}
	for row, err := range rows() {
		if err == nil {
			err = c.add(row)
		}
		if err != nil {
			return fmt.Errorf("html report: %w", err)
		}
	}
	return c.end()
}

// chunk is a group of rows. Only its index is buffered.
type chunk struct {
	page  *page
	index []entry
	bytes int
}

func (c *chunk) add(row *trial.Row) error {
	data, err := json.Marshal(detailOf(row))
	if err != nil {
		return fmt.Errorf("case %q, trial %d: %w", row.Case, row.Repeat, err)
	}
	if len(c.index) == 0 {
		c.page.open("trials")
		c.page.text("[")
	} else {
		c.page.text(",\n")
	}
	if _, err := c.page.w.Write(data); err != nil {
		return err
	}
	c.bytes += len(data)
	c.index = append(c.index, entryOf(row))
	if len(c.index) == chunkRows || c.bytes >= chunkBytes {
		return c.end()
	}
	return nil
}

func (c *chunk) end() error {
	if len(c.index) == 0 {
		return nil
	}
	c.page.text("]")
	c.page.end()
	if err := c.page.data("index", c.index); err != nil {
		return fmt.Errorf("html report: figures of the trials from case %q on: %w", c.index[0].Case, err)
	}
	c.index, c.bytes = c.index[:0], 0
	return nil
}

// entry is what the page knows about a trial without loading its details.
type entry struct {
	Case      string          `json:"case"`
	Variant   string          `json:"variant,omitempty"`
	Repeat    int             `json:"repeat"`
	Outcome   trial.Outcome   `json:"outcome"`
	Fault     trial.ErrorKind `json:"fault,omitempty"`
	Score     float64         `json:"score"`
	Cost      float64         `json:"cost"`
	LatencyMS float64         `json:"ms"`
	Tokens    int             `json:"tokens"`
	Tags      []string        `json:"tags,omitempty"`
	Failed    []string        `json:"failed,omitempty"` // names of checks
	About     string          `json:"about,omitempty"`  // start of the question, for the search
}

func entryOf(row *trial.Row) entry {
	e := entry{
		Case: row.Case, Variant: row.Variant, Repeat: row.Repeat, Outcome: row.Outcome, Score: row.Score,
		Cost: row.Run.Cost, LatencyMS: row.Run.LatencyMS, Tokens: row.Run.Tokens, Tags: row.Tags, About: about(row),
	}
	if row.Fault != nil {
		e.Fault = row.Fault.Kind
	}
	for i := range row.Marks {
		if m := &row.Marks[i]; !m.Pass && m.Error == "" {
			e.Failed = append(e.Failed, m.Check)
		}
	}
	return e
}

// about returns the start of the trial's question.
func about(row *trial.Row) string {
	for _, from := range []map[string]any{row.Parameters, row.Input} {
		if s, ok := from["question"].(string); ok {
			return cut(s, 160)
		}
	}
	return ""
}
