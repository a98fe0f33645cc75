package web

import (
	"fmt"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine/text"
)

// chart is values over time. Its table is on the page, and the script draws a picture from it.
type chart struct {
	Title  string
	Unit   unit
	Series []string
	Drawn  int  // how many of the series are in the picture; the others are only in the table
	Band   bool // the series are a value, and the ends of its interval
	Rows   []chartRow
}

// chartRow has the values of a time, one for each series.
type chartRow struct {
	At    time.Time
	Label string
	Link  string // of the label; "" = none
	Cells []cell
}

// cell is a value; Text is "" if there is none.
type cell struct {
	Value float64
	Text  string
}

// unit is how the values of a chart are written.
type unit string

const (
	dollars unit = "usd"
	number  unit = "count"
	millis  unit = "ms"
	percent unit = "percent"
)

// of returns the cell of a value.
func (u unit) of(v float64) cell {
	switch u {
	case dollars:
		return cell{v, fmt.Sprintf("$%.4f", v)}
	case millis:
		return cell{v, text.Duration(time.Duration(v) * time.Millisecond)}
	case percent:
		return cell{100 * v, fmt.Sprintf("%.1f%%", 100*v)}
	default:
		return cell{v, strconv.FormatFloat(v, 'f', -1, 64)}
	}
}

// Data returns the value for the script.
func (c cell) Data() string { return strconv.FormatFloat(c.Value, 'g', -1, 64) }

// isEmpty reports whether the chart has no value but 0.
func (c *chart) isEmpty() bool {
	for _, r := range c.Rows {
		for _, v := range r.Cells {
			if v.Text != "" && v.Value != 0 {
				return false
			}
		}
	}
	return true
}
