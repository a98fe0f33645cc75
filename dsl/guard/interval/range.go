package interval

import (
	"maps"
	"math"
	"slices"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// Range is what a value may be: kinds, and for each of them bounds. The zero
// Range is nothing at all. It is immutable.
type Range struct {
	kinds  kinds
	lo, hi float64          // of a number, both included
	whole  bool             // a number has no fraction
	words  []string         // all that a text may be, sorted; nil = anything
	least  int              // elements of a list
	most   int              // likewise; endless = no bound is known
	elem   *Range           // of a list; nil = there is none
	fields map[string]Range // of an object
	open   bool             // an object may have further fields
	rest   *Range           // of its further fields; nil = anything
	named  bool             // an object's schema declares its fields: another name is a mistake
	origin *origin          // the argument of a tool that it is
	// variants are what the elements of a list are, one of them each, where elem
	// does not tell.
	variants []Range
	fails    bool   // working it out may fail
	why      string // where the bounds come from, for people
}

// kinds are the kinds of value that are possible, as bits.
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

// endless is a list whose length has no bound.
const endless = math.MaxInt

// Anything is any value at all.
func Anything() Range {
	return Range{kinds: isAny, lo: math.Inf(-1), hi: math.Inf(1), most: endless, open: true}
}

// Nothing is nil, a value that is not there.
func Nothing() Range { return Range{kinds: isNil} }

// Number is any number from lo to hi; infinities are no bound.
func Number(lo, hi float64) Range { return Range{kinds: isNumber, lo: lo, hi: hi} }

// Whole is Number without fractions.
func Whole(lo, hi float64) Range { return Range{kinds: isNumber, lo: lo, hi: hi, whole: true} }

// Words is a text that is one of some.
func Words(words ...string) Range {
	out := slices.Compact(slices.Sorted(slices.Values(words)))
	if out == nil {
		out = []string{}
	}
	return Range{kinds: isText, words: out}
}

// Text is any text.
func Text() Range { return Range{kinds: isText} }

// Truth is true or false.
func Truth() Range { return Range{kinds: isBool} }

// List has from least to most elements, each of a range; most < 0 is no bound.
func List(least, most int, elem Range) Range {
	if most < 0 {
		most = endless
	}
	return Range{kinds: isList, least: least, most: most, elem: &elem}
}

// Object has the fields of a mapping, and no others. The mapping is kept.
func Object(fields map[string]Range) Range { return Range{kinds: isObject, fields: fields} }

// Or is what is in either range.
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

// either picks what belongs to a kind from the range that has it.
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

// bothFields are the fields of two objects; one that is in one of them only may
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

// field is what a field of an object may be.
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
		return Anything().failing() // a mistake, which is reported where it is written
	case r.open:
		return Anything()
	}
	return Nothing()
}

// Because says where a range comes from, for Known: "limits.max_steps".
func (r Range) Because(why string) Range { r.why = why; return r }

// With is an object with other fields over its own.
func (r Range) With(fields map[string]Range) Range {
	out := make(map[string]Range, len(r.fields)+len(fields))
	maps.Copy(out, r.fields)
	maps.Copy(out, fields)
	r.fields = out
	return r
}

func (r Range) failing() Range           { r.fails = true; return r }
func (r Range) failingIf(yes bool) Range { r.fails = r.fails || yes; return r }

// only says that the value is of these kinds.
func (r Range) only(k kinds) bool { return r.kinds != 0 && r.kinds&^k == 0 }

// single says that a number or a text can be one value only.
func (r Range) single() bool {
	switch {
	case r.only(isNumber):
		return r.lo == r.hi && math.Abs(r.lo) < exact.MaxInt
	case r.only(isText):
		return len(r.words) == 1
	}
	return r.kinds == isNil || r.kinds == isTrue || r.kinds == isFalse
}
