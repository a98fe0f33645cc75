package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

// Size is a number of bytes, written as a whole number with a unit: 512B, 64KiB,
// 1MiB or 2GiB.
type Size int64

// SizeType is handled by name.
var SizeType = reflect.TypeFor[Size]()

// SizePattern matches a Size. The number may still be too large.
const SizePattern = `^[0-9]+(B|KiB|MiB|GiB)$`

// sizeUnits are the units of a Size, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

var sizeForm = text.Regexp(SizePattern)

// ParseSize parses a size. ok is false if the text is not one, or exceeds an
// int64.
func ParseSize(s string) (size Size, ok bool) {
	if !sizeForm().MatchString(s) {
		return 0, false
	}
	for _, u := range sizeUnits {
		digits, found := strings.CutSuffix(s, u.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		return Size(n * u.bytes), err == nil && n <= math.MaxInt64/u.bytes
	}
	return 0, false
}

// String returns the size in the largest unit that needs no fraction.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if n := int64(s); n%u.bytes == 0 && (n != 0 || u.bytes == 1) {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return ""
}

// size decodes a size.
func (c *Decoder) size(v *syntax.Node, path string, tag reflect.StructTag) Size {
	size, ok := ParseSize(v.Text)
	if !ok || !v.IsScalar() {
		c.WrongType(v, path, "a size").Hint = sizeHint(v)
		return 0
	}
	v.Kind = syntax.Text
	c.bounds(v, path, tag, func(limit string) float64 { l, _ := ParseSize(limit); return float64(size - l) })
	return size
}

// otherSize matches a size in a notation of other tools.
var otherSize = text.Regexp(`(?i)^([0-9]+) *([kmg]?)(?:i?b|i)?$`)

// sizeHint returns the notation of the size that a value most likely means.
func sizeHint(v *syntax.Node) string {
	m := otherSize().FindStringSubmatch(strings.ReplaceAll(v.Text, "_", ""))
	if !v.IsScalar() || m == nil {
		return "write a whole number with a unit: 512B, 64KiB, 1MiB or 2GiB"
	}
	unit := "B"
	if m[2] != "" {
		unit = strings.ToUpper(m[2]) + "iB"
	}
	size, ok := ParseSize(m[1] + unit)
	switch {
	case !ok:
		return "the maximum is " + Size(math.MaxInt64>>30<<30).String()
	case unit == "B":
		return "add a unit: " + size.String()
	}
	return "write " + m[1] + unit + " (units are B, KiB, MiB and GiB)"
}
