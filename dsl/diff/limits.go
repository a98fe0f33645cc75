package diff

import (
	"strconv"
	"strings"
	"time"
)

// limits compares the limits of a run and reports whether they rose or fell.
func (c *comparison) limits() {
	c.walk("limits", c.old.tree.Get("limits"), c.now.tree.Get("limits"))
	if c.oneSided() {
		return
	}
	for i := range c.changes {
		x := &c.changes[i]
		bound := strings.HasSuffix(x.Path, "max_iterations") || strings.HasPrefix(x.Path, "limits.max_")
		if x.Note = direction(x.Old, x.New); !bound {
			continue
		}
		switch x.Note {
		case "no limit any more", "raised":
			x.Effect = Looser
		case "lowered", "new limit":
			x.Effect = Safer
		}
	}
}

// direction returns the direction in which a limit changed.
func direction(before, after string) string {
	a, known := amount(before)
	b, known2 := amount(after)
	switch {
	case after == "":
		return "no limit any more"
	case before == "":
		return "new limit"
	case !known || !known2:
		return ""
	case b > a:
		return "raised"
	}
	return "lowered"
}

// amount returns a number, or the seconds of a duration.
func amount(text string) (float64, bool) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, true
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err == nil
}
