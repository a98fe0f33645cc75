package dataset

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// csvRows reads a header and then one row per record: RFC 4180, all values are strings.
func csvRows(r *bufio.Reader, yield func(row, error) bool) {
	bounded := &bounded{r: r}
	in := csv.NewReader(bounded)
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		yield(row{}, errors.New("the file is empty: the first line of a CSV file must name its columns"))
		return
	}
	names, err := header(head, err)
	if err != nil {
		yield(row{line: 1}, err)
		return
	}
	for {
		bounded.begin(in.InputOffset())
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		line := lineOf(in, err)
		values, err := valuesOf(names, record, err)
		if !yield(row{line, values}, err) || err != nil {
			return
		}
	}
}

func header(head []string, err error) ([]string, error) {
	if err != nil {
		return nil, csvError(err, 0, 0)
	}
	names, seen := make([]string, len(head)), map[string]bool{}
	for i, name := range head {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
			return nil, fmt.Errorf("column %d has no name", i+1)
		case !utf8.ValidString(name):
			return nil, errors.New("the header is not UTF-8 text")
		case seen[name]:
			return nil, fmt.Errorf("duplicate column %s", name)
		}
		names[i], seen[name] = name, true
	}
	if len(names) == 1 && strings.ContainsAny(names[0], ";\t") {
		return nil, fmt.Errorf("only one column, %q: separate columns by commas", names[0])
	}
	return names, nil
}

// lineOf returns the first line of the last record.
func lineOf(in *csv.Reader, err error) int {
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		return p.StartLine
	}
	if err != nil {
		return 0
	}
	line, _ := in.FieldPos(0)
	return line
}

func valuesOf(names, record []string, err error) (map[string]any, error) {
	if err != nil {
		return nil, csvError(err, len(record), len(names))
	}
	values := make(map[string]any, len(names))
	for i, v := range record {
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("column %s is not UTF-8 text", names[i])
		}
		values[names[i]] = strings.Clone(v) // the record is reused
	}
	return values, nil
}

// csvError describes what is wrong with a record.
func csvError(err error, fields, columns int) error {
	p, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return err
	case errors.Is(p.Err, csv.ErrFieldCount):
		return fmt.Errorf("the row has %d values, the header has %d (quote values that contain commas)", fields, columns)
	case errors.Is(p.Err, csv.ErrQuote):
		return fmt.Errorf("invalid quoted value (line %d, column %d): double the quotes inside it", p.Line, p.Column)
	case errors.Is(p.Err, csv.ErrBareQuote):
		return fmt.Errorf("quote in an unquoted value (line %d, column %d)", p.Line, p.Column)
	}
	return p.Err
}

// bounded fails if a record is too long. A record with an unclosed quote extends to the end of the file.
type bounded struct {
	r     io.Reader
	n     int64 // bytes read
	start int64 // offset of the current record
}

func (b *bounded) begin(at int64) { b.start = at }

func (b *bounded) Read(p []byte) (int, error) {
	if b.n-b.start > maxLine {
		return 0, errLong
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	return n, err
}
