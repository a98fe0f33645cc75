package unseen

import "unicode"

// Class is a kind of characters that are not seen; "" = it is seen.
type Class string

// The classes.
const (
	Control  Class = "control"  // C0 and C1 but for line breaks and tabs, separators, what is no character
	Tag      Class = "tag"      // U+E0000 block: ASCII that no font draws
	Bidi     Class = "bidi"     // reorders what is read
	Blank    Class = "blank"    // takes no room: zero-width, fillers, other format characters
	Selector Class = "selector" // chooses a variant of the character before it
	Private  Class = "private"  // means what its users agreed on
)

// The characters that are looked at by themselves.
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

// ClassOf is the class of a character by itself: whether a joiner, a selector or
// a return is in order where it stands, In says.
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
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // Arabic number signs are drawn
		return ""
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return Blank
	}
	return ""
}

// joined are the scripts whose spelling needs joiners.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar,
}

// signs are characters other than symbols that emoji are made of.
const signs = "‼⁉〰ℹ"
