package interval

import (
	"maps"
	"math"
	"slices"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// Range describes the possible values: kinds, and bounds for each of them. The
// zero Range is empty. It is immutable.
type Range struct {
	kinds  kinds
	lo, hi float64          // of a number, inclusive
	whole  bool             // a number without a fraction
	words  []string         // all possible texts, sorted; nil for any
	least  int              // minimum number of list elements
	most   int              // maximum number; endless if unknown
	elem   *Range           // of a list; nil if unknown
	fields map[string]Range // of an object
	open   bool             // an object may have other fields
	rest   *Range           // of its other fields; nil for any
	named  bool             // the schema of an object declares its fields: another name is a mistake
	origin *origin          // the tool argument that it describes
	// variants are the possible forms of list elements, if elem alone does not
	// describe them.
	variants []Range
	fails    bool   // evaluating it may fail
	why      string // the source of the bounds, for humans
}

// kinds is the set of possible kinds of values.
type kinds uint8

const (
	isNil kinds = 1 << iota
	isFalse
	isTrue
	isNumber
	isText
	isList
	isObject
	isBool = isFalse | isTrue
	isAny  = isNil | isBool | isNumber | isText | isList | isObject
)

// endless is the length of a list without a known limit.
const endless = math.MaxInt

// Anything returns the range of all values.
func Anything() Range {
	return Range{kinds: isAny, lo: math.Inf(-1), hi: math.Inf(1), most: endless, open: true}
}

// Nothing returns the range of nil, a missing value.
func Nothing() Range { return Range{kinds: isNil} }

// Number returns the range of the numbers from lo to hi; infinities mean no
// bound.
func Number(lo, hi float64) Range { return Range{kinds: isNumber, lo: lo, hi: hi} }

// Whole is like Number, for whole numbers.
func Whole(lo, hi float64) Range { return Range{kinds: isNumber, lo: lo, hi: hi, whole: true} }

// Words returns the range of some texts.
func Words(words ...string) Range {
	out := slices.Compact(slices.Sorted(slices.Values(words)))
	if out == nil {
		out = []string{}
	}
	return Range{kinds: isText, words: out}
}

// Text returns the range of all texts.
func Text() Range { return Range{kinds: isText} }

// Truth returns the range of both booleans.
func Truth() Range { return Range{kinds: isBool} }

// List returns the range of lists with least to most elements, each in elem; most
// < 0 means no limit.
func List(least, most int, elem Range) Range {
	if most < 0 {
		most = endless
	}
	return Range{kinds: isList, least: least, most: most, elem: &elem}
}

// Object returns the range of objects with exactly these fields. It does not copy
// the map.
func Object(fields map[string]Range) Range { return Range{kinds: isObject, fields: fields} }

// Or returns the union of two ranges.
func (r Range) Or(o Range) Range {
	out := Range{kinds: r.kinds | o.kinds, fails: r.fails || o.fails, why: r.why}
	if o.why != r.why {
		out.why = ""
	}
	out.lo, out.hi, out.whole = either(r, o, isNumber, r.lo, min(r.lo, o.lo), o.lo), either(r, o, isNumber, r.hi, max(r.hi, o.hi), o.hi),
		either(r, o, isNumber, r.whole, r.whole && o.whole, o.whole)
	out.words = either(r, o, isText, r.words, bothWords(r.words, o.words), o.words)
	out.least, out.most = either(r, o, isList, r.least, min(r.least, o.least), o.least), either(r, o, isList, r.most, max(r.most, o.most), o.most)
	out.elem = either(r, o, isList, r.elem, bothElements(r.elem, o.elem), o.elem)
	out.variants = either(r, o, isList, r.variants, nil, o.variants)
	out.fields = either(r, o, isObject, r.fields, bothFields(r, o), o.fields)
	out.open = either(r, o, isObject, r.open, r.open || o.open, o.open)
	out.rest = either(r, o, isObject, r.rest, nil, o.rest)
	out.named = either(r, o, isObject, r.named, r.named && o.named, o.named)
	switch {
	case o.origin == nil || o.origin == r.origin:
		out.origin = r.origin
	case r.origin == nil:
		out.origin = o.origin
	}
	return out
}

// either returns the property of a kind from the range that has the kind, or both
// if both have it.
func either[T any](r, o Range, k kinds, mine, both, other T) T {
	switch {
	case r.kinds&k == 0:
		return other
	case o.kinds&k == 0:
		return mine
	}
	return both
}

func bothWords(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > maxWords {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func bothElements(a, b *Range) *Range {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := a.Or(*b)
	return &both
}

// bothFields returns the fields of two objects; a field of only one of them may
// be missing.
func bothFields(r, o Range) map[string]Range {
	out := make(map[string]Range, len(r.fields)+len(o.fields))
	for name := range r.fields {
		out[name] = r.field(name).Or(o.field(name))
	}
	for name := range o.fields {
		out[name] = r.field(name).Or(o.field(name))
	}
	return out
}

// field returns the range of a field of an object.
func (r Range) field(name string) Range {
	switch f, ok := r.fields[name]; {
	case ok:
		return f
	case r.open && r.rest != nil:
		f := r.rest.Or(Nothing())
		if f.origin != nil {
			f.origin = &origin{f.origin.tool, name}
		}
		return f
	case r.open && r.named:
		return Anything().failing() // a mistake, which is reported at its place
	case r.open:
		return Anything()
	}
	return Nothing()
}

// Because sets the source of a range, for Known: "limits.max_steps".
func (r Range) Because(why string) Range { r.why = why; return r }

// With returns an object in which fields override its own.
func (r Range) With(fields map[string]Range) Range {
	out := make(map[string]Range, len(r.fields)+len(fields))
	maps.Copy(out, r.fields)
	maps.Copy(out, fields)
	r.fields = out
	return r
}

func (r Range) failing() Range           { r.fails = true; return r }
func (r Range) failingIf(yes bool) Range { r.fails = r.fails || yes; return r }

// hasOnly reports whether the value has one of these kinds.
func (r Range) hasOnly(k kinds) bool { return r.kinds != 0 && r.kinds&^k == 0 }

// single reports whether a number or a text can have one value only.
func (r Range) single() bool {
	switch {
	case r.hasOnly(isNumber):
		return r.lo == r.hi && math.Abs(r.lo) < exact.MaxInt
	case r.hasOnly(isText):
		return len(r.words) == 1
	}
	return r.kinds == isNil || r.kinds == isTrue || r.kinds == isFalse
}
