package reply

import "encoding/json"

// JSON reads any JSON reply as tolerantly as Parse reads plans: an answer under
// a schema, a verdict. The value is the very text where that was valid. A code
// other than "" says why there is none, in the words of Result.Code.
func JSON(text string, o Options) (value json.RawMessage, repaired bool, code string) {
	src := prepare(text, o)
	if src.code == "" {
		if c, ok := src.best(o); ok {
			return json.RawMessage(c.value.json()), c.fixes|src.fixes != 0, ""
		}
	}
	src.blame(o)
	return nil, false, src.code
}

// best is the value a text is about: all of it, else the first object that has
// members, else the first array on lines of its own.
func (src *source) best(o Options) (candidate, bool) {
	found := src.candidates(o)
	if src.whole && len(found) == 1 {
		c := found[0]
		if inner, ok := src.stringified(&c, o); ok {
			return inner, true
		}
		return c, true
	}
	for i := range found {
		if found[i].value.kind == object && len(found[i].value.items) > 0 {
			return found[i], true
		}
	}
	for i := range found {
		if src.alone(&found[i]) {
			return found[i], true
		}
	}
	if len(found) > 0 {
		src.code = NotJSON
	}
	return candidate{}, false
}

// stringified opens a string that is an object or array written as text.
func (src *source) stringified(c *candidate, o Options) (candidate, bool) {
	if c.value.kind != text || !opens(c.value.str) {
		return candidate{}, false
	}
	inner := prepare(c.value.str, o)
	v, ok := inner.all(o)
	v.fixes |= c.fixes | fixStringified
	return v, ok && v.value.kind >= array
}
