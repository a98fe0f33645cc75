package reply

import (
	"bytes"
	"encoding/json"
	"strings"
)

// SeveralReadings is the error code of a text with more than one matching value.
const SeveralReadings = "several_readings"

// NoFit is the error code of a text without a matching value.
const NoFit = "no_fit"

// Parsed is the result of Fit: a value and the repairs made to get it, or an error code.
type Parsed struct {
	Value   json.RawMessage
	Repairs []string
	Code    string
}

// Limits of the search for readings.
const (
	maxReadings = 128
	workPerByte = 32
)

// Fit returns the value in text for which fits returns true. Matching JSON is returned
// unchanged. Text that is not JSON, or does not match, is read in every way the package
// supports, and a value is returned only if it is the only match, so Fit never guesses.
func Fit(text string, o Options, fits func(json.RawMessage) bool) Parsed {
	src := prepare(text, o)
	if src.code != "" {
		return Parsed{Code: src.code}
	}
	if src.fixes == 0 && json.Valid([]byte(src.text)) && fits(json.RawMessage(src.text)) {
		return Parsed{Value: json.RawMessage(src.text)}
	}
	f := fitter{options: o, fits: fits}
	f.search(src.text, src.fixes, 0)
	switch {
	case f.several || f.limitReached:
		return Parsed{Code: SeveralReadings}
	case f.hasValue:
		return Parsed{Value: f.value, Repairs: f.fixes.words()}
	case f.anyReading:
		return Parsed{Code: NoFit}
	}
	src.endCode = f.endCode
	src.setCode(o)
	return Parsed{Code: src.code}
}

// fitter collects the matching readings of a text.
type fitter struct {
	options Options
	fits    func(json.RawMessage) bool

	hasValue, several bool
	value             json.RawMessage
	canonical         []byte
	fixes             fix
	seenValues        map[string]bool // readings seen so far, by canonical JSON

	anyReading   bool   // there was at least one reading
	limitReached bool   // the limit was reached before all readings were tried
	endCode      string // error code if the text is truncated
}

// search tries every reading of a text. depth is the number of strings and wrappers
// around it.
func (f *fitter) search(text string, fixes fix, depth int) {
	if depth > 2 {
		return
	}
	if n := reasoningEnd(text); n > 0 {
		text, fixes = strings.TrimSpace(text[n:]), fixes|fixSurround
	}
	if strings.HasPrefix(text, `"`) {
		var s string
		if json.Unmarshal([]byte(text), &s) == nil {
			if startsLikeJSON(s) {
				f.search(strings.TrimSpace(s), fixes|fixStringified, depth+1)
			}
			return
		}
	}
	tree := &branches{}
	work := 0
	for n := 1; ; n++ {
		d := document{src: text, tree: tree, limit: f.options.maxDepth(), open: !f.options.Truncated}
		if d.parse() {
			f.document(&d, fixes|d.fixes, depth)
		} else if d.endCode != "" {
			f.endCode = d.endCode
		}
		work += d.work
		if f.several || !tree.overflow && !tree.advance() {
			break
		}
		if tree.overflow || n == maxReadings || work > workPerByte*len(text)+1<<16 {
			f.limitReached = true
			return
		}
	}
	if !f.anyReading && fixes&fixStringified == 0 && strings.Contains(text, `\"`) {
		var s string
		if json.Unmarshal([]byte(`"`+text+`"`), &s) == nil {
			f.search(strings.TrimSpace(s), fixes|fixStringified, depth+1)
		}
	}
}

// document tries the values of one reading: its only value, or its objects as one list if
// only commas separate them.
func (f *fitter) document(d *document, fixes fix, depth int) {
	if len(d.roots) == 1 {
		f.try(&d.roots[0], fixes, depth)
		return
	}
	if !d.commaSeparated {
		for i := range d.roots {
			f.try(&d.roots[i], fixes|fixSurround, depth)
		}
		return
	}
	joined := value{kind: array, repaired: true, items: d.roots}
	for i := range d.roots {
		if d.roots[i].kind != object {
			f.anyReading = true
			return
		}
	}
	f.try(&joined, fixes|fixSeveral, depth)
}

// try records the value if it matches, otherwise it tries the value that v wraps.
func (f *fitter) try(v *value, fixes fix, depth int) {
	f.anyReading = true
	raw := json.RawMessage(v.json())
	canonical, ok := canonicalJSON(raw)
	if !ok || f.seenValues[string(canonical)] {
		return
	}
	if f.seenValues == nil {
		f.seenValues = map[string]bool{}
	}
	f.seenValues[string(canonical)] = true
	if f.fits(raw) {
		f.several = f.hasValue && !bytes.Equal(canonical, f.canonical)
		if !f.hasValue {
			f.hasValue, f.value, f.canonical, f.fixes = true, raw, canonical, fixes
		}
		return
	}
	if !f.options.Wrapped || depth > 2 {
		return
	}
	inner := f.unwrap(v)
	switch {
	case inner == nil:
	case inner.kind != stringKind:
		f.try(inner, fixes|fixWrapper, depth+1)
	case startsLikeJSON(inner.str):
		f.search(strings.TrimSpace(inner.str), fixes|fixWrapper|fixStringified, depth+1)
	}
}

// canonicalJSON encodes a value so that equal values have equal bytes.
func canonicalJSON(raw json.RawMessage) ([]byte, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	out, err := json.Marshal(v)
	return out, err == nil
}

// unwrap returns the arguments in a complete tool call, or the only element of a list. It
// returns nil if v is neither.
func (f *fitter) unwrap(v *value) *value {
	if v.kind == array && len(v.items) == 1 && v.items[0].kind == object {
		return &v.items[0]
	}
	if v.kind != object {
		return nil
	}
	var inner *value
	for i := range v.items {
		switch m := &v.items[i]; plainKey(m.key) {
		case "arguments", "args", "parameters", "params", "input", "tool_input", "action_input", "kwargs":
			if inner != nil {
				return nil
			}
			inner = m
		case "name", "tool", "tool_name", "function", "action":
			if m.kind != stringKind || f.options.OtherTool != nil && f.options.OtherTool(m.str) {
				return nil
			}
		case "id", "type", "call_id", "tool_call_id":
			if m.kind != stringKind && m.kind != null {
				return nil
			}
		default:
			return nil
		}
	}
	return inner
}
