package invisible

import "unicode"

// Class is a class of invisible characters; "" = visible.
type Class string

// The classes.
const (
	Control  Class = "control"  // C0 and C1 except line breaks and tabs, separators, noncharacters
	Tag      Class = "tag"      // U+E0000 block: invisible ASCII
	Bidi     Class = "bidi"     // reorders text
	Blank    Class = "blank"    // zero-width characters, fillers, other format characters
	Selector Class = "selector" // selects a variant of the preceding character
	Private  Class = "private"  // private use
)

// Characters handled individually.
const (
	nonJoiner    = 0x200c
	joiner       = 0x200d
	textStyle    = 0xfe0e
	emojiStyle   = 0xfe0f
	tags         = 0xe0000
	tagsEnd      = 0xe007f
	keycap       = 0x20e3
	fairestSkin  = 0x1f3fb
	darkestSkin  = 0x1f3ff
	lineBreak    = 0x2028
	paragraphEnd = 0x2029
)

// ClassOf returns the class of a character by itself. In decides whether a joiner,
// selector or carriage return is legitimate in its place.
func ClassOf(r rune) Class {
	switch {
	case r == '\n' || r == '\t', r >= 0x20 && r < 0x7f:
		return ""
	case r >= tags && r <= tagsEnd:
		return Tag
	case unicode.Is(unicode.Bidi_Control, r):
		return Bidi
	case unicode.Is(unicode.Variation_Selector, r):
		return Selector
	case unicode.Is(unicode.Co, r):
		return Private
	case unicode.IsControl(r), r == lineBreak || r == paragraphEnd, unicode.Is(unicode.Noncharacter_Code_Point, r):
		return Control
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // Arabic number signs are visible
		return ""
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return Blank
	}
	return ""
}

// joined are the scripts that need joiners.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar,
}

// signs are characters other than symbols that can be part of emoji.
const signs = "‼⁉〰ℹ"
