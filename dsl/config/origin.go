package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
)

// Origin is the source of a value of a spec.
type Origin struct {
	Path   string `json:"path"`   // limits.max_steps
	Value  string `json:"value"`  // shortened
	Origin string `json:"origin"` // spec.yaml:12:5, include lib.yaml:3:1, --set, PEX_SET_X or default
	// Whole is the full default if Value is shortened; otherwise "".
	Whole string `json:"-"`
}

// Origins returns the values of a tree and the defaults, sorted by path.
func Origins(tree *syntax.Node, defaults []Origin) []Origin {
	if tree == nil {
		return nil
	}
	out := append(addOrigins(tree, "", nil), defaults...)
	slices.SortStableFunc(out, func(a, b Origin) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(out, func(a, b Origin) bool { return a.Path == b.Path })
}

func addOrigins(v *syntax.Node, path string, out []Origin) []Origin {
	switch {
	case v.Kind == syntax.Map && len(v.Entries) > 0:
		for _, e := range v.Entries {
			out = addOrigins(e.Value, Join(path, e.Key), out)
		}
		return out
	case v.Kind == syntax.List && len(v.Items) > 0:
		for i, it := range v.Items {
			out = addOrigins(it, path+"["+strconv.Itoa(i)+"]", out)
		}
		return out
	case v.Source == nil:
		return out
	}
	return append(out, Origin{Path: path, Value: Brief(maskedText(v, path)), Origin: originOf(v)})
}

// maskedText returns the value at a path with secrets masked.
func maskedText(v *syntax.Node, path string) string {
	const most = 4096 // bytes of a shortened value
	s := textOrJSON(v)
	key, _, _ := strings.Cut(path[strings.LastIndexByte(path, '.')+1:], "[")
	return (&syntax.Report{}).Mask(s[:min(len(s), most)], key)
}

func textOrJSON(v *syntax.Node) string {
	if v.Kind == syntax.Text {
		return v.Text
	}
	return string(v.AppendJSON(nil))
}

func originOf(v *syntax.Node) string {
	switch v.Source.Kind {
	case syntax.IncludedFile:
		return "include " + syntax.Where(v.Position)
	case syntax.ExtendedFile:
		return "extends " + syntax.Where(v.Position)
	case syntax.Flag:
		return "--set"
	default:
		return syntax.Where(v.Position)
	}
}

// Brief returns a text on one line, shortened.
func Brief(s string) string {
	return text.ClipRunes(text.OneLine(s), 80)
}

// DefaultText returns a default, shortened, or "" if there is none worth showing.
func DefaultText(v reflect.Value) string { return Brief(wholeDefault(v)) }

// wholeDefault returns a full default, or "" if there is none worth showing.
func wholeDefault(v reflect.Value) string {
	if v.IsZero() {
		return ""
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return x.String()
	case Size:
		return x.String()
	case component.PromptRef:
		return x.Text
	case component.Template:
		return x.Text
	case component.GuardRef:
		return x.Source
	case component.FilterRef:
		return x.Source
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func:
		return ""
	default:
		return fmt.Sprint(v.Interface())
	}
}
