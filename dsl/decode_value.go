package dsl

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/diag"
)

// value decodes one value by the type of its target; tag is the field's, whose
// rules hold for the elements of lists and mappings too.
func (c *compiler) value(v *value, path string, tag reflect.StructTag, to reflect.Value) {
	if c.reference(v, path, tag, to) {
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		elem := fresh(to.Type().Elem())
		c.value(v, path, tag, elem.Elem())
		to.Set(elem)
	case reflect.Struct:
		c.fields(v, path, to)
	case reflect.Slice:
		c.list(v, path, tag, to)
	case reflect.Map:
		c.mapping(v, path, tag, to)
	case reflect.Interface:
		x := v.loose()
		if tag.Get("numbers") == "exact" {
			x = v.exact()
		}
		if x != nil {
			to.Set(reflect.ValueOf(x))
		}
	case reflect.String:
		c.text(v, path, tag, to)
	case reflect.Bool:
		if v.kind != boolean {
			c.wrongType(v, path, "true or false")
			return
		}
		to.SetBool(v.isTrue())
	default:
		c.number(v, path, tag, to)
	}
}

func (c *compiler) list(v *value, path string, tag reflect.StructTag, to reflect.Value) {
	if v.kind != list {
		d := c.wrongType(v, path, "a list")
		if v.kind == text {
			d.Hint = "write [" + v.text + "]"
		}
		if words := strings.Fields(v.text); v.kind == text && tag.Get("path") == "program" && len(words) > 1 {
			d.Hint = "write its words apart, no shell is in between: [" + strings.Join(flowWords(words), ", ") + "]"
		}
		return
	}
	if least := tag.Get("min"); least != "" && len(v.items) < atoi(least) {
		c.report.error(diag.OutOfBounds, v.place, "%s wants at least %s", path, least)
	}
	if most := tag.Get("max"); most != "" && len(v.items) > atoi(most) {
		c.report.error(diag.OutOfBounds, v.place, "%s wants at most %s", path, most)
	}
	if tag.Get("path") == "program" {
		c.rebaseProgram(v)
	}
	to.Set(reflect.MakeSlice(to.Type(), len(v.items), len(v.items)))
	for i, it := range v.items {
		c.value(it, path+"["+strconv.Itoa(i)+"]", withoutBounds(tag), to.Index(i))
	}
}

// flowWords are words as a list between brackets takes them.
func flowWords(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.ContainsAny(w, "{}[],:#&*!|>%@`") {
			out[i] = strconv.Quote(w)
		}
	}
	return out
}

// withoutBounds is a list's tag for its elements: min and max count elements.
func withoutBounds(tag reflect.StructTag) reflect.StructTag {
	s := string(tag)
	s = strings.ReplaceAll(s, `min:"`, `least:"`)
	return reflect.StructTag(strings.ReplaceAll(s, `max:"`, `most:"`))
}

func (c *compiler) mapping(v *value, path string, tag reflect.StructTag, to reflect.Value) {
	if v.kind != dict {
		c.wrongType(v, path, "a mapping")
		return
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(v.entries)))
	for _, e := range v.entries {
		elem := reflect.New(to.Type().Elem()).Elem()
		c.value(e.val, join(path, e.key), tag, elem)
		to.SetMapIndex(reflect.ValueOf(e.key), elem)
	}
}

// text takes any scalar but a boolean or null; a number keeps its digits.
func (c *compiler) text(v *value, path string, tag reflect.StructTag, to reflect.Value) {
	if !c.asText(v, path) {
		return
	}
	if words := tag.Get("enum"); words != "" && !has(words, v.text) {
		c.report.error(diag.NotAllowed, v.place, "%s cannot be %s", path, quoted(v.text)).Advice = cmp.Or(diag.Advice{Hint: gone(tag, v.text)}, diag.Suggest(v.text, strings.Split(words, "|")))
		return
	}
	if path := tag.Get("path"); path == "relative" || path == "file" {
		c.rebase(v)
	}
	to.SetString(v.text)
	if tag.Get("path") == "file" {
		c.filePath(v)
	}
}

// gone is the way out for a word that is no more: gone:"word: what to do".
func gone(tag reflect.StructTag, word string) string {
	hint, found := strings.CutPrefix(tag.Get("gone"), word+": ")
	if !found {
		return ""
	}
	return hint
}

func has(words, word string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if w == word {
			return true
		}
	}
	return false
}

// asText makes a scalar text, or reports that it is none.
func (c *compiler) asText(v *value, path string) bool {
	switch v.kind {
	case text:
		return true
	case integer, float:
		if v.kind == float && strings.HasSuffix(v.text, "0") {
			c.report.warn(diag.NumberAsText, v.place, "%s is text, and %s looks like a number", path, v.text).Hint = `the text is kept as it is; quote it: "` + v.text + `"`
		}
		v.kind = text
		return true
	default:
		d := c.wrongType(v, path, "text")
		if v.kind == boolean {
			d.Hint = `quote it: "` + v.text + `"`
		}
		return false
	}
}

func (c *compiler) number(v *value, path string, tag reflect.StructTag, to reflect.Value) {
	switch to.Kind() {
	case reflect.Float32, reflect.Float64:
		if v.kind != integer && v.kind != float {
			c.wrongType(v, path, "a number").Hint = v.bareNumber()
			return
		}
		f, _ := v.jsonNumber().Float64()
		to.SetFloat(f)
		c.bounds(v, path, tag, func(limit string) float64 { l, _ := strconv.ParseFloat(limit, 64); return f - l })
	default:
		if t := strings.TrimLeft(v.text, "0"); v.kind == text && v.style == plain && intForm.MatchString(t) {
			v.kind, v.text = integer, t // 010 is ten in YAML 1.2, and text where nothing says that it is a number
		}
		n, err := strconv.ParseInt(string(v.jsonNumberIf(integer)), 10, 64)
		if err != nil || to.OverflowInt(n) {
			c.wrongType(v, path, "a whole number").Hint = v.bareNumber()
			return
		}
		to.SetInt(n)
		c.bounds(v, path, tag, func(limit string) float64 { l, _ := strconv.ParseInt(limit, 10, 64); return float64(n) - float64(l) })
	}
}

// numberWithin is a number with something around it: a currency, a unit, strokes
// between its digits.
var numberWithin = regexp.MustCompile(`^[^\d-]{0,4}?(-?\d[\d_, ]*(?:\.\d+)?)\s*(\D{0,12})$`)

// multiples are units that are a part of the number.
var multiples = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "%": 0.01}

// bareNumber is the hint for a text that holds a number; "" = it holds none.
func (v *value) bareNumber() string {
	m := numberWithin.FindStringSubmatch(v.text)
	if v.kind != text || m == nil {
		return ""
	}
	digits := m[1]
	if decimals := digits[strings.LastIndexByte(digits, ',')+1:]; len(decimals) < 3 && strings.Count(digits, ",") == 1 {
		return "write a dot: " + strings.ReplaceAll(digits, ",", ".")
	}
	digits = trimZeros(strings.NewReplacer("_", "", ",", "", " ", "").Replace(digits))
	if times, ok := multiples[m[2]]; ok {
		f, _ := strconv.ParseFloat(digits, 64) // digits and a dot
		digits = strconv.FormatFloat(f*times, 'g', 12, 64)
	}
	return "write the number alone: " + digits
}

// trimZeros is a number without zeros that lead it.
func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' && s[1] != '.' {
		s = s[1:]
	}
	return s
}

// jsonNumberIf is the number of a value of a kind, else nothing.
func (v *value) jsonNumberIf(k kind) json.Number {
	if v.kind != k {
		return ""
	}
	return v.jsonNumber()
}

func (c *compiler) duration(v *value, path string, tag reflect.StructTag) time.Duration {
	d, err := time.ParseDuration(v.text)
	if err != nil || !v.isScalar() {
		hint := "write 90s, 15m or 1h30m"
		if v.kind == integer {
			hint = "say of what: " + v.text + "s"
		}
		c.wrongType(v, path, "a duration").Hint = hint
		return 0
	}
	v.kind = text
	c.bounds(v, path, tag, func(limit string) float64 { l, _ := time.ParseDuration(limit); return float64(d - l) })
	return d
}

// bounds checks a value by how far it is from a limit.
func (c *compiler) bounds(v *value, path string, tag reflect.StructTag, from func(limit string) float64) {
	if least, ok := tag.Lookup("min"); ok && from(least) < 0 {
		c.report.error(diag.OutOfBounds, v.place, "%s is %s, and may not be less than %s", path, v.text, least)
	}
	if below, ok := tag.Lookup("over"); ok && from(below) <= 0 {
		c.report.error(diag.OutOfBounds, v.place, "%s is %s, and must be more than %s", path, v.text, below).Hint = "leave it out for no bound, or the default one"
	}
	if most, ok := tag.Lookup("max"); ok && from(most) > 0 {
		c.report.error(diag.OutOfBounds, v.place, "%s is %s, and may not be more than %s", path, v.text, most)
	}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
