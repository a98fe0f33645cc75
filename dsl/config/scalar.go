package config

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
)

// DecodeValue decodes one value by the type of its target. tag is the field's;
// its rules also apply to the elements of lists and mappings.
func (c *Decoder) DecodeValue(v *syntax.Node, path string, tag reflect.StructTag, to reflect.Value) {
	if c.reference(v, path, tag, to) {
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		elem := New(to.Type().Elem())
		c.DecodeValue(v, path, tag, elem.Elem())
		to.Set(elem)
	case reflect.Struct:
		c.fields(v, path, to)
	case reflect.Slice:
		c.list(v, path, tag, to)
	case reflect.Map:
		c.mapping(v, path, tag, to)
	case reflect.Interface:
		x := v.Decoded()
		if tag.Get("numbers") == "exact" {
			x = v.JSONValue()
		}
		if x != nil {
			to.Set(reflect.ValueOf(x))
		}
	case reflect.String:
		c.text(v, path, tag, to)
	case reflect.Bool:
		if v.Kind != syntax.Bool {
			c.WrongType(v, path, "a boolean")
			return
		}
		to.SetBool(v.Bool())
	default:
		c.number(v, path, tag, to)
	}
}

func (c *Decoder) list(v *syntax.Node, path string, tag reflect.StructTag, to reflect.Value) {
	if v.Kind != syntax.List {
		d := c.WrongType(v, path, "a list")
		if v.Kind == syntax.Text {
			d.Hint = "write [" + v.Text + "]"
		}
		if words := strings.Fields(v.Text); v.Kind == syntax.Text && tag.Get("path") == "program" && len(words) > 1 {
			d.Hint = "write the arguments as a list; no shell is used: [" + strings.Join(flowWords(words), ", ") + "]"
		}
		return
	}
	if least := tag.Get("min"); least != "" && len(v.Items) < atoi(least) {
		c.Report.Error(diag.OutOfRange, v.Position, "%s must have at least %s, got %d", path, entryCount(least), len(v.Items))
	}
	if most := tag.Get("max"); most != "" && len(v.Items) > atoi(most) {
		c.Report.Error(diag.OutOfRange, v.Position, "%s must have at most %s, got %d", path, entryCount(most), len(v.Items))
	}
	if tag.Get("path") == "program" {
		c.rebaseProgram(v)
	}
	to.Set(reflect.MakeSlice(to.Type(), len(v.Items), len(v.Items)))
	for i, it := range v.Items {
		c.DecodeValue(it, path+"["+strconv.Itoa(i)+"]", WithoutBounds(tag), to.Index(i))
	}
}

// flowWords returns words as items of a flow sequence.
func flowWords(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.ContainsAny(w, "{}[],:#&*!|>%@`") {
			out[i] = strconv.Quote(w)
		}
	}
	return out
}

// WithoutBounds returns the tag of a list for its elements: without min and max,
// which count elements.
func WithoutBounds(tag reflect.StructTag) reflect.StructTag {
	s := string(tag)
	s = strings.ReplaceAll(s, `min:"`, `least:"`)
	return reflect.StructTag(strings.ReplaceAll(s, `max:"`, `most:"`))
}

func (c *Decoder) mapping(v *syntax.Node, path string, tag reflect.StructTag, to reflect.Value) {
	if v.Kind != syntax.Map {
		c.WrongType(v, path, "a mapping")
		return
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(v.Entries)))
	for _, e := range v.Entries {
		elem := reflect.New(to.Type().Elem()).Elem()
		c.DecodeValue(e.Value, Join(path, e.Key), tag, elem)
		to.SetMapIndex(reflect.ValueOf(e.Key), elem)
	}
}

// text accepts any scalar except a boolean or null. A number keeps its digits.
func (c *Decoder) text(v *syntax.Node, path string, tag reflect.StructTag, to reflect.Value) {
	if !c.AsText(v, path) {
		return
	}
	if words := tag.Get("enum"); words != "" && !has(words, v.Text) {
		c.Report.Error(diag.NotAllowed, v.Position, "invalid value %s for %s", syntax.Quote(v.Text), path).Advice = cmp.Or(diag.Advice{Hint: replacement(tag, v.Text)}, diag.Suggest(v.Text, strings.Split(words, "|")))
		return
	}
	if path := tag.Get("path"); path == "relative" || path == "file" {
		c.rebase(v)
	}
	to.SetString(v.Text)
	if tag.Get("path") == "file" {
		c.filePath(v)
	}
}

// replacement returns the hint for a removed word: gone:"word: hint|word: hint".
func replacement(tag reflect.StructTag, word string) string {
	for entry := range strings.SplitSeq(tag.Get("gone"), "|") {
		if hint, found := strings.CutPrefix(entry, word+": "); found {
			return hint
		}
	}
	return ""
}

func has(words, word string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if w == word {
			return true
		}
	}
	return false
}

// AsText converts a scalar to text, or reports that it is not one.
func (c *Decoder) AsText(v *syntax.Node, path string) bool {
	switch v.Kind {
	case syntax.Text:
		return true
	case syntax.Int, syntax.Float:
		if v.Kind == syntax.Float && strings.HasSuffix(v.Text, "0") {
			c.Report.Warn(diag.NumberAsText, v.Position, "%s is a string, but %s looks like a number", path, v.Text).Hint = `the text is used as written; quote it: "` + v.Text + `"`
		}
		v.Kind = syntax.Text
		return true
	default:
		d := c.WrongType(v, path, "a string")
		if v.Kind == syntax.Bool {
			d.Hint = `quote it: "` + v.Text + `"`
		}
		return false
	}
}

func (c *Decoder) number(v *syntax.Node, path string, tag reflect.StructTag, to reflect.Value) {
	switch to.Kind() {
	case reflect.Float32, reflect.Float64:
		if v.Kind != syntax.Int && v.Kind != syntax.Float {
			c.WrongType(v, path, "a number").Hint = bareNumber(v)
			return
		}
		f, _ := v.Number().Float64()
		to.SetFloat(f)
		c.bounds(v, path, tag, func(limit string) float64 { l, _ := strconv.ParseFloat(limit, 64); return f - l })
	default:
		if t := strings.TrimLeft(v.Text, "0"); v.Kind == syntax.Text && v.Style == syntax.Plain && syntax.IntForm().MatchString(t) {
			v.Kind, v.Text = syntax.Int, t // YAML 1.2 reads 010 as ten; it is text unless a number is expected
		}
		n, err := strconv.ParseInt(string(numberOfKind(v, syntax.Int)), 10, 64)
		if err != nil || to.OverflowInt(n) {
			c.WrongType(v, path, "an integer").Hint = bareNumber(v)
			return
		}
		to.SetInt(n)
		c.bounds(v, path, tag, func(limit string) float64 { l, _ := strconv.ParseInt(limit, 10, 64); return float64(n) - float64(l) })
	}
}

// numberWithin matches a number with a currency, a unit or digit separators.
var numberWithin = text.Regexp(`^[^\d-]{0,4}?(-?\d[\d_, ]*(?:\.\d+)?)\s*(\D{0,12})$`)

// multiples are unit suffixes that scale the number.
var multiples = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "%": 0.01}

// bareNumber returns the hint for a text that contains a number, or "" if it
// contains none.
func bareNumber(v *syntax.Node) string {
	m := numberWithin().FindStringSubmatch(v.Text)
	if v.Kind != syntax.Text || m == nil {
		return ""
	}
	digits := m[1]
	if decimals := digits[strings.LastIndexByte(digits, ',')+1:]; len(decimals) < 3 && strings.Count(digits, ",") == 1 {
		return "use a decimal point: " + strings.ReplaceAll(digits, ",", ".")
	}
	digits = trimZeros(strings.NewReplacer("_", "", ",", "", " ", "").Replace(digits))
	if times, ok := multiples[m[2]]; ok {
		f, _ := strconv.ParseFloat(digits, 64) // digits and a dot
		digits = strconv.FormatFloat(f*times, 'g', 12, 64)
	}
	return "write only the number: " + digits
}

// trimZeros removes leading zeros from a number.
func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' && s[1] != '.' {
		s = s[1:]
	}
	return s
}

// numberOfKind returns the number of a value of the given kind, or "".
func numberOfKind(v *syntax.Node, k syntax.Kind) json.Number {
	if v.Kind != k {
		return ""
	}
	return v.Number()
}

func (c *Decoder) duration(v *syntax.Node, path string, tag reflect.StructTag) time.Duration {
	d, err := time.ParseDuration(v.Text)
	if err != nil || !v.IsScalar() {
		hint := "write a number with a unit: 90s, 15m or 1h30m"
		if v.Kind == syntax.Int {
			hint = "add a unit: " + v.Text + "s"
		}
		c.WrongType(v, path, "a duration").Hint = hint
		return 0
	}
	v.Kind = syntax.Text
	c.bounds(v, path, tag, func(limit string) float64 { l, _ := time.ParseDuration(limit); return float64(d - l) })
	return d
}

// bounds checks a value against the limits of its tag. from returns the distance
// from a limit.
func (c *Decoder) bounds(v *syntax.Node, path string, tag reflect.StructTag, from func(limit string) float64) {
	least, hasLeast := tag.Lookup("min")
	below, hasBelow := tag.Lookup("over")
	most, hasMost := tag.Lookup("max")
	var wanted string
	switch {
	case hasLeast && hasMost:
		wanted = "between " + least + " and " + most
	case hasBelow && hasMost:
		wanted = "more than " + below + " and at most " + most
	case hasLeast:
		wanted = "at least " + least
	case hasBelow:
		wanted = "more than " + below
	case hasMost:
		wanted = "at most " + most
	}
	tooLow := hasBelow && from(below) <= 0
	if tooLow || hasLeast && from(least) < 0 || hasMost && from(most) > 0 {
		d := c.Report.Error(diag.OutOfRange, v.Position, "%s must be %s, got %s", path, wanted, v.Text)
		if tooLow {
			d.Hint = "leave it out for no limit, or for the default one"
		}
	}
}

// entryCount formats a number of list entries.
func entryCount(n string) string {
	if n == "1" {
		return "1 entry"
	}
	return n + " entries"
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// RejectRounded reports a whole number that the values of a run cannot represent.
// It accepts such a number in a run that an earlier version started.
func (c *Decoder) RejectRounded(v *syntax.Node, what string, code diag.Code) bool {
	n := v.FirstTooLarge()
	if n == nil || n.IsResolved() {
		return false
	}
	c.Report.Error(code, n.Position, "%s: %v", what, &jsonvalue.PrecisionError{Number: n.Text}).Hint = "quote it"
	return true
}
