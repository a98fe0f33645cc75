package node

import (
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
)

// withDatetime adds the run's start time to a system prompt where the spec
// wants it there.
func withDatetime(v engine.View, text engine.Text) engine.Text {
	if v.Program.Datetime == "" {
		return text
	}
	return append(text, "\nCurrent date and time: ", strftime(v.Program.Datetime, v.Started.UTC()), "\n")
}

// directives maps strftime's directives to Go layouts.
var directives = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'y': "06", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'e': "_2", 'Z': "MST", 'z': "-0700",
	'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'R': "15:04", 'c': "Mon Jan _2 15:04:05 2006",
}

// strftime formats a time by strftime directives; an unknown one stays as it is.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; c {
		case '%':
			b.WriteByte('%')
		case 's':
			fmt.Fprint(&b, t.Unix())
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case 'f':
			fmt.Fprintf(&b, "%06d", t.Nanosecond()/1000)
		default:
			if layout, ok := directives[c]; ok {
				b.WriteString(t.Format(layout))
			} else {
				b.WriteByte('%')
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}
