package reply

import "encoding/json"

// JSON parses any JSON reply, such as an answer with a schema or a verdict, as leniently
// as Parse. Valid JSON is returned unchanged. code is an error code of Result.Code, "" on
// success.
func JSON(text string, o Options) (value json.RawMessage, repaired bool, code string) {
	src := prepare(text, o)
	if src.code == "" {
		if c, ok := src.best(o); ok {
			return json.RawMessage(c.value.json()), c.fixes|src.fixes != 0, ""
		}
	}
	src.setCode(o)
	return nil, false, src.code
}

// best returns the value that a text is about: the entire text, else the first object
// with members, else the first array on lines of its own.
func (src *source) best(o Options) (candidate, bool) {
	found := src.candidates(o)
	if src.entire && len(found) == 1 {
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
		if src.onOwnLines(&found[i]) {
			return found[i], true
		}
	}
	if len(found) > 0 {
		src.code = NotJSON
	}
	return candidate{}, false
}

// stringified unwraps a string that contains an object or array.
func (src *source) stringified(c *candidate, o Options) (candidate, bool) {
	if c.value.kind != stringKind || !startsLikeJSON(c.value.str) {
		return candidate{}, false
	}
	inner := prepare(c.value.str, o)
	v, ok := inner.all(o)
	v.fixes |= c.fixes | fixStringified
	return v, ok && v.value.kind >= array
}
