package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/tty"
)

// The elements of JUnit, with the attributes of junit-10.xsd. File and Line of a case,
// and its properties, are written only if the Settings ask for them.
type (
	xmlSuite struct {
		Name      string    `xml:"name,attr"`
		Tests     int       `xml:"tests,attr"`
		Failures  int       `xml:"failures,attr"`
		Errors    int       `xml:"errors,attr"`
		Skipped   int       `xml:"skipped,attr"`
		Time      string    `xml:"time,attr"`
		Timestamp string    `xml:"timestamp,attr,omitempty"`
		File      string    `xml:"file,attr,omitempty"`
		Cases     []xmlCase `xml:"testcase"`
	}
	xmlCase struct {
		Name       string         `xml:"name,attr"`
		Class      string         `xml:"classname,attr"`
		Time       string         `xml:"time,attr"`
		Group      string         `xml:"group,attr,omitempty"`
		File       string         `xml:"file,attr,omitempty"`
		Line       int            `xml:"line,attr,omitempty"`
		Properties *xmlProperties `xml:"properties"`
		Failure    *xmlProblem    `xml:"failure"`
		Error      *xmlProblem    `xml:"error"`
		Skipped    *xmlProblem    `xml:"skipped"`
		Out        *xmlOutput     `xml:"system-out"`
	}
	xmlProblem struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"`
	}
	xmlOutput struct {
		Text string `xml:",cdata"`
	}
	xmlProperties struct {
		List []xmlProperty `xml:"property"`
	}
	xmlProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
)

// place sets the position of a case, for readers that support the attributes.
func (c *xmlCase) place(set Settings, file string, line int) {
	if set.Locations {
		c.File, c.Line = xmlText(file), line
	}
}

// addProperties adds properties to a case, as elements or as text.
func (c *xmlCase) addProperties(set Settings, list []xmlProperty) {
	if len(list) == 0 {
		return
	}
	if set.Locations {
		c.Properties = &xmlProperties{list}
		return
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "[[PROPERTY|%s=%s]]\n", p.Name, p.Value)
	}
	c.Out = &xmlOutput{b.String()}
}

// xmlWriter streams elements. It stores the first error.
type xmlWriter struct {
	w   *bufio.Writer
	e   *xml.Encoder
	err error
}

func newXML(w io.Writer) *xmlWriter {
	x := &xmlWriter{w: bufio.NewWriter(w)}
	x.e = xml.NewEncoder(x.w)
	x.e.Indent("", "  ")
	_, x.err = x.w.WriteString(xml.Header)
	return x
}

func (x *xmlWriter) do(f func() error) {
	if x.err == nil {
		x.err = f()
	}
}

func (x *xmlWriter) element(name string, v any) {
	x.do(func() error { return x.e.EncodeElement(v, start(name)) })
}

// open starts an element with the attributes of a suite.
func (x *xmlWriter) open(name string, s xmlSuite) {
	tag := start(name)
	add := func(name, value string) {
		tag.Attr = append(tag.Attr, xml.Attr{Name: xml.Name{Local: name}, Value: xmlText(value)})
	}
	add("name", s.Name)
	add("tests", fmt.Sprint(s.Tests))
	add("failures", fmt.Sprint(s.Failures))
	add("errors", fmt.Sprint(s.Errors))
	if name == "testsuite" {
		add("skipped", fmt.Sprint(s.Skipped))
	}
	add("time", s.Time)
	if s.Timestamp != "" {
		add("timestamp", s.Timestamp)
	}
	if s.File != "" {
		add("file", s.File)
	}
	x.do(func() error { return x.e.EncodeToken(tag) })
}

func (x *xmlWriter) properties(list []xmlProperty) { x.element("properties", xmlProperties{list}) }

func (x *xmlWriter) end(name string) {
	x.do(func() error { return x.e.EncodeToken(start(name).End()) })
}

func (x *xmlWriter) close() error {
	x.do(x.e.Close)
	x.do(func() error { return x.w.WriteByte('\n') })
	x.do(x.w.Flush)
	return x.err
}

func start(name string) xml.StartElement { return xml.StartElement{Name: xml.Name{Local: name}} }

// xmlText returns a text of valid XML characters. Control characters are made visible,
// invalid ones replaced.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, tty.Safe(s))
}

// xmlSeconds formats a duration in seconds, as the schema requires.
func xmlSeconds(ms float64) string { return fmt.Sprintf("%.3f", max(ms, 0)/1000) }
