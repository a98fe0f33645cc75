package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

// checkJUnit checks XML against the elements and attributes that junit-10.xsd of Jenkins'
// xunit plugin allows.
func checkJUnit(t *testing.T, text string, locations bool) {
	t.Helper()
	within := map[string][]string{
		"":           {"testsuites"},
		"testsuites": {"testsuite"},
		"testsuite":  {"testsuite", "properties", "testcase", "system-out", "system-err"},
		"testcase":   {"skipped", "error", "failure", "system-out", "system-err"},
		"properties": {"property"},
	}
	attributes := map[string][]string{ // an asterisk marks required attributes
		"testsuites": {"name", "time", "tests", "failures", "errors"},
		"testsuite":  {"name*", "tests*", "failures*", "errors*", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
		"testcase":   {"name*", "time", "classname", "group"},
		"property":   {"name*", "value*"},
		"failure":    {"type", "message"}, "error": {"type", "message"}, "skipped": {"type", "message"},
	}
	if locations {
		within["testcase"] = append(within["testcase"], "properties")
		attributes["testcase"] = append(attributes["testcase"], "file", "line")
	}
	d := xml.NewDecoder(strings.NewReader(text))
	open := []string{""}
	counts := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, text)
		}
		switch x := token.(type) {
		case xml.StartElement:
			checkElement(t, x, within[open[len(open)-1]], attributes[x.Name.Local])
			open = append(open, x.Name.Local)
			counts[x.Name.Local]++
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 1 && strings.TrimSpace(string(x)) != "" {
				t.Errorf("text outside of the document: %q", x)
			}
		}
	}
	var head struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	if err := xml.Unmarshal([]byte(text), &head); err != nil {
		t.Fatal(err)
	}
	if head.Tests != counts["testcase"] || head.Failures != counts["failure"] || head.Errors != counts["error"] {
		t.Errorf("totals are %+v, want %v", head, counts)
	}
}

var secondsOf = regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`)

func checkElement(t *testing.T, x xml.StartElement, allowed, attributes []string) {
	t.Helper()
	name := x.Name.Local
	if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+name+" ") {
		t.Errorf("%s is not allowed here: allowed are %v", name, allowed)
	}
	for _, a := range x.Attr {
		known := false
		for _, k := range attributes {
			known = known || strings.TrimSuffix(k, "*") == a.Name.Local
		}
		if !known {
			t.Errorf("%s has no attribute %s", name, a.Name.Local)
		}
		if a.Name.Local == "time" && !secondsOf.MatchString(a.Value) {
			t.Errorf("time %q", a.Value)
		}
	}
	for _, k := range attributes {
		must, required := strings.CutSuffix(k, "*")
		there := false
		for _, a := range x.Attr {
			there = there || a.Name.Local == must
		}
		if required && !there {
			t.Errorf("%s lacks %s", name, must)
		}
	}
}
