package diag

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

// URL returns the address of the page that explains a code.
func (c Code) URL() string {
	return "https://github.com/pexctl/pex/blob/main/docs/reference/diagnostics/" + string(c) + ".md"
}

// Log is a list of diagnostics for tools that read SARIF 2.1.0.
type Log struct {
	Version string // of this program
	Found   List
	Ignored []Ignored // reported as suppressed in the source
	// File returns the path of a file relative to the root of the sources, with
	// slashes, or a URL, or "" if it is not a file.
	File func(string) string
}

type (
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifRule struct {
		ID      Code      `json:"id"`
		Name    string    `json:"name"`
		Short   sarifText `json:"shortDescription"`
		Full    sarifText `json:"fullDescription"`
		Help    sarifText `json:"help"`
		HelpURI string    `json:"helpUri"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
		End    int `json:"endColumn,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifSuppression struct {
		Kind   string `json:"kind"`
		Reason string `json:"justification"`
	}
	sarifResult struct {
		Rule         Code                `json:"ruleId"`
		Index        int                 `json:"ruleIndex"`
		Level        Severity            `json:"level"`
		Message      sarifText           `json:"message"`
		Locations    []sarifLocation     `json:"locations,omitempty"`
		Fingerprints map[string]string   `json:"partialFingerprints"`
		Suppressions *[]sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Columns string        `json:"columnKind"`
		Results []sarifResult `json:"results"`
	}
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
)

// MarshalJSON returns the log as SARIF 2.1.0: one run, the rules that it uses,
// paths relative to %SRCROOT%, columns in characters.
func (l Log) MarshalJSON() ([]byte, error) {
	s := sarifWriter{log: l, fingerprints: map[string]int{}}
	var ignored List
	for _, i := range l.Ignored {
		ignored = append(ignored, i.Diagnostic)
	}
	s.codes = usedCodes(l.Found, ignored)
	run := sarifRun{Columns: "unicodeCodePoints", Results: []sarifResult{}, Tool: sarifTool{sarifDriver{
		Name: "pexctl", Version: l.Version, URI: "https://github.com/pexctl/pex", Rules: []sarifRule{},
	}}}
	for _, code := range s.codes {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(code))
	}
	for _, d := range l.Found {
		r := s.result(d)
		if len(l.Ignored) > 0 { // then each result needs suppressions
			r.Suppressions = &[]sarifSuppression{}
		}
		run.Results = append(run.Results, r)
	}
	for _, i := range l.Ignored {
		r := s.result(i.Diagnostic)
		r.Suppressions = &[]sarifSuppression{{"inSource", escapeControls(i.Reason)}}
		run.Results = append(run.Results, r)
	}
	return json.Marshal(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func ruleOf(code Code) sarifRule {
	m, _ := Explain(string(code))
	return sarifRule{
		ID: code, Name: pascal(m.Title), Short: sarifText{Text: m.Title}, Full: sarifText{Text: m.Meaning},
		Help:    sarifText{Text: m.Meaning + "\n" + m.Right.text(), Markdown: m.Body()},
		HelpURI: code.URL(),
	}
}

// pascal returns a title in Pascal case: DuplicateKey.
func pascal(title string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// sarifWriter writes the results of a log.
type sarifWriter struct {
	log          Log
	codes        []Code
	fingerprints map[string]int // the number of occurrences of a fingerprint
}

func (s *sarifWriter) result(d Diagnostic) sarifResult {
	index, _ := slices.BinarySearch(s.codes, d.Code)
	r := sarifResult{Rule: d.Code, Index: index, Level: d.Severity, Message: sarifText{Text: escapeControls(d.Message)}}
	if d.Hint != "" {
		r.Message.Text += "\nhint: " + escapeControls(d.Hint)
	}
	if file := s.log.File(d.File); file != "" {
		at := sarifPhysical{Artifact: artifact(file)}
		if d.Line > 0 {
			at.Region = &sarifRegion{d.Line, d.Column, d.EndColumn}
		}
		r.Locations = []sarifLocation{{at}}
	} else {
		r.Message.Text = escapeControls(d.File) + ": " + r.Message.Text
	}
	r.Fingerprints = map[string]string{"primaryLocationLineHash": s.fingerprint(d)}
	return r
}

// artifact returns the location of a file. Relative paths are relative to the
// root of the sources.
func artifact(file string) sarifArtifact {
	switch {
	case strings.Contains(file, "://"):
		return sarifArtifact{URI: file}
	case path.IsAbs(file):
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: file}).String()}
	}
	return sarifArtifact{(&url.URL{Path: file}).String(), "%SRCROOT%"}
}

// fingerprint identifies a mistake. It depends on the text of the line and not on
// its number, so it is stable when lines above are added or removed.
func (s *sarifWriter) fingerprint(d Diagnostic) string {
	text := strings.Join(strings.Fields(d.Snippet), " ")
	if text == "" {
		text = d.Message
	}
	file := cmp.Or(s.log.File(d.File), d.File) // without a dependence on the working directory
	sum := sha256.Sum256([]byte(string(d.Code) + "\x00" + file + "\x00" + text))
	hash := hex.EncodeToString(sum[:8])
	s.fingerprints[hash]++
	return fmt.Sprintf("%s:%d", hash, s.fingerprints[hash])
}
