package baseline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Write writes a baseline: what is of the whole in indented JSON, then a line
// for each case. The same baseline gives the same bytes. Figures of cases are
// written with as many digits as a reader would look at.
func Write(w io.Writer, f *File) error {
	head := *f
	head.V, head.Cases = Version, nil
	data, err := json.MarshalIndent(struct {
		File
		Cases *struct{} `json:"cases,omitempty"` // hides those of File
	}{File: head}, "", "  ")
	if err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	out := bufio.NewWriter(w) // which keeps the first error for Flush
	fmt.Fprintf(out, "%s,\n  \"cases\": [", data[:len(data)-len("\n}")])
	for i := range f.Cases {
		line, err := json.Marshal(rounded(f.Cases[i]))
		if err != nil {
			return fmt.Errorf("baseline: case %q: %w", f.Cases[i].Case, err)
		}
		sep := ",\n    "
		if i == 0 {
			sep = "\n    "
		}
		fmt.Fprintf(out, "%s%s", sep, line)
	}
	if len(f.Cases) > 0 {
		fmt.Fprint(out, "\n  ")
	}
	fmt.Fprint(out, "]\n}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	return nil
}

func rounded(c Case) Case {
	c.Score, c.Cost = digits(c.Score, 6), digits(c.Cost, 4)
	c.Tokens, c.LatencyMS = digits(c.Tokens, 4), digits(c.LatencyMS, 3)
	return c
}

// digits is a figure with so many significant digits.
func digits(x float64, n int) float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	if err != nil {
		return x
	}
	return d
}
