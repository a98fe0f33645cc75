package reply

import (
	"bytes"
	"encoding/json"
	"strings"
)

// SeveralReadings is the code of a text that can be read as more than one value
// that fits.
const SeveralReadings = "several_readings"

// NoFit is the code of a text whose readings all miss the schema.
const NoFit = "no_fit"

// Parsed is what Fit found: a value, and what was repaired to get it; or the
// code of why there is none.
type Parsed struct {
	Value   json.RawMessage
	Repairs []string
	Code    string
}

// maxReadings and workPerByte bound the search for readings.
const (
	maxReadings = 128
	workPerByte = 32
)

// Fit reads the one value in text for which fits holds. JSON that fits is
// returned as it is. Text that is not JSON, or JSON that does not fit, is read
// in every way the package knows; the value is taken only if exactly one of
// them fits, so fits decides what was meant and a guess never does.
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
	case f.several || f.spent:
		return Parsed{Code: SeveralReadings}
	case f.found:
		return Parsed{Value: f.value, Repairs: f.fixes.words()}
	case f.read:
		return Parsed{Code: NoFit}
	}
	src.ended = f.ended
	src.blame(o)
	return Parsed{Code: src.code}
}

// fitter collects the readings of a text that fit.
type fitter struct {
	options Options
	fits    func(json.RawMessage) bool

	found, several bool
	value          json.RawMessage
	canonical      []byte
	fixes          fix
	tried          map[string]bool // the readings seen, fitting or not

	read  bool   // there was a reading
	spent bool   // the bound was met before all readings were seen
	ended string // the code of a text that was cut
}

// search reads a text in every way. depth counts the strings and wrappers it
// was taken out of.
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
			if opens(s) {
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
		} else if d.ended != "" {
			f.ended = d.ended
		}
		work += d.work
		if f.several || !tree.full && !tree.advance() {
			break
		}
		if tree.full || n == maxReadings || work > workPerByte*len(text)+1<<16 {
			f.spent = true
			return
		}
	}
	if !f.read && fixes&fixStringified == 0 && strings.Contains(text, `\"`) {
		var s string
		if json.Unmarshal([]byte(`"`+text+`"`), &s) == nil {
			f.search(strings.TrimSpace(s), fixes|fixStringified, depth+1)
		}
	}
}

// document tries what one reading of the text holds: its only value, or its
// objects as one list where nothing but commas is between them.
func (f *fitter) document(d *document, fixes fix, depth int) {
	if len(d.roots) == 1 {
		f.try(&d.roots[0], fixes, depth)
		return
	}
	if !d.listed {
		for i := range d.roots {
			f.try(&d.roots[i], fixes|fixSurround, depth)
		}
		return
	}
	joined := value{kind: array, fixed: true, items: d.roots}
	for i := range d.roots {
		if d.roots[i].kind != object {
			f.read = true
			return
		}
	}
	f.try(&joined, fixes|fixSeveral, depth)
}

// try takes a value if it fits, else what it wraps.
func (f *fitter) try(v *value, fixes fix, depth int) {
	f.read = true
	raw := json.RawMessage(v.json())
	canonical, ok := canonicalJSON(raw)
	if !ok || f.tried[string(canonical)] {
		return
	}
	if f.tried == nil {
		f.tried = map[string]bool{}
	}
	f.tried[string(canonical)] = true
	if f.fits(raw) {
		f.several = f.found && !bytes.Equal(canonical, f.canonical)
		if !f.found {
			f.found, f.value, f.canonical, f.fixes = true, raw, canonical, fixes
		}
		return
	}
	if !f.options.Wrapped || depth > 2 {
		return
	}
	inner := f.unwrap(v)
	switch {
	case inner == nil:
	case inner.kind != text:
		f.try(inner, fixes|fixWrapper, depth+1)
	case opens(inner.str):
		f.search(strings.TrimSpace(inner.str), fixes|fixWrapper|fixStringified, depth+1)
	}
}

// canonicalJSON is a value as bytes that are equal for equal values.
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

// unwrap is the arguments in an object that is a whole call, or in a list of
// one; nil = v is neither.
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
			if m.kind != text || f.options.OtherTool != nil && f.options.OtherTool(m.str) {
				return nil
			}
		case "id", "type", "call_id", "tool_call_id":
			if m.kind != text && m.kind != null {
				return nil
			}
		default:
			return nil
		}
	}
	return inner
}
