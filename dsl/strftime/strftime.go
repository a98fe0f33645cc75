package strftime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// directives maps the strftime directives to layouts of package time.
var directives = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05",
	'f': "000000", 'p': "PM", 'j': "002", 'A': "Monday", 'a': "Mon", 'B': "January", 'b': "Jan", 'h': "Jan",
	'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
	'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
}

// numbers are the directives without a layout in package time.
var numbers = map[byte]func(time.Time) string{
	's': func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	'u': func(t time.Time) string { return strconv.Itoa((int(t.Weekday())+6)%7 + 1) },
	'w': func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) },
	'V': func(t time.Time) string { _, week := t.ISOWeek(); return fmt.Sprintf("%02d", week) },
	'G': func(t time.Time) string { year, _ := t.ISOWeek(); return strconv.Itoa(year) },
	'%': func(time.Time) string { return "%" },
	'n': func(time.Time) string { return "\n" },
	't': func(time.Time) string { return "\t" },
}

// Format formats a time with a format that Check accepts; unknown directives stay
// unchanged.
func Format(t time.Time, format string) string {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		switch write, layout := numbers[format[i]], directives[format[i]]; {
		case write != nil:
			out.WriteString(write(t))
		case format[i] == 'f':
			fmt.Fprintf(&out, "%06d", t.Nanosecond()/1000)
		case layout != "":
			out.WriteString(t.Format(layout))
		default:
			out.WriteString(format[i-1 : i+1])
		}
	}
	return out.String()
}

// Check reports the first unknown directive.
func Check(format string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return fmt.Errorf("format %q ends with %%; write %%%% for a percent sign", format)
		}
		if numbers[format[i]] == nil && directives[format[i]] == "" {
			return fmt.Errorf("format %q: unknown directive %%%c; write for example %%Y-%%m-%%d %%H:%%M", format, format[i])
		}
	}
	return nil
}
