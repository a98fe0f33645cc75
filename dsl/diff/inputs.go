package diff

import (
	"strings"

	"github.com/pexctl/pex/dsl"
)

// inputs compares the parameters. The question always exists, even if it is not
// declared.
func (c *comparison) inputs() {
	c.pairs(c.old.tree.Get("parameters"), c.now.tree.Get("parameters"), func(name string, a, b dsl.Entry) {
		path := "parameters." + name
		switch {
		case name == "question" && (!a.Value.Exists() || !b.Value.Exists()):
			c.question(path, a, b)
		case !a.Value.Exists() || !b.Value.Exists():
			c.add(input(path, a, b))
		default:
			c.input(path, a.Value, b.Value)
		}
	})
}

// input returns the change for an added or removed parameter.
func input(path string, a, b dsl.Entry) Change {
	v := b.Value
	if !v.Exists() {
		v = a.Value
	}
	x := entry(path, a, b, property(v, needed(v)))
	switch {
	case x.Kind == Removed:
		x.Effect, x.Note = Breaking, "callers that pass it are rejected"
	case needed(v):
		x.Effect, x.Note = Breaking, "callers must pass it"
	}
	return x
}

func needed(v dsl.Value) bool { return v.Get("required").Text() == "true" }

// input compares a parameter with its old version.
func (c *comparison) input(path string, a, b dsl.Value) {
	s := shape{c, path, Breaking}
	if was, is := needed(a), needed(b); was != is {
		x := Change{Path: path, Kind: Changed, Old: needs(was), New: needs(is), At: placeOf(b.Place())}
		if is {
			x.Effect, x.Note = Breaking, "callers must pass it"
		}
		c.add(x)
	}
	for _, key := range keysOf(a, b) {
		if key != "required" || a.Get(key).IsList() || b.Get(key).IsList() {
			s.key(path, key, a, b)
		}
	}
}

func needs(required bool) string {
	if required {
		return "required"
	}
	return "optional"
}

// question compares a declared question with the implicit one: a required text.
func (c *comparison) question(path string, a, b dsl.Entry) {
	v := first(a.Value.Get("type").Text(), b.Value.Get("type").Text(), "string")
	declared := a.Value
	if b.Value.Exists() {
		declared = b.Value
	}
	for _, e := range declared.Entries() {
		if e.Key != "type" && e.Key != "required" && e.Key != "description" {
			c.walk(path+"."+e.Key, a.Value.Get(e.Key), b.Value.Get(e.Key))
		}
	}
	if v != "string" {
		c.add(Change{Path: path + ".type", Kind: Changed, Old: first(a.Value.Get("type").Text(), "string"), New: first(b.Value.Get("type").Text(), "string"), Effect: Breaking, At: placeOf(b.Place)})
	}
	was, is := !a.Value.Exists() || needed(a.Value), !b.Value.Exists() || needed(b.Value)
	if was == is || c.oneSided() {
		return
	}
	x := Change{Path: path, Kind: Changed, Old: needs(was), New: needs(is), At: placeOf(b.Place)}
	if is {
		x.Effect, x.Note = Breaking, "callers must pass it"
	}
	c.add(x)
}

// shape compares JSON Schemas of what callers pass or readers receive.
type shape struct {
	*comparison
	root    string // the path of the schema
	narrows Effect // the effect of a type change
}

// schema compares two schemas.
func (s shape) schema(path string, a, b dsl.Value) {
	if !a.IsMapping() || !b.IsMapping() {
		if !s.equivalent(path, a, b) {
			s.leaf(path, a, b)
		}
		return
	}
	for _, key := range keysOf(a, b) {
		s.key(path, key, a, b)
	}
}

// key compares the values of a keyword in two schemas.
func (s shape) key(path, key string, a, b dsl.Value) {
	x, y := a.Get(key), b.Get(key)
	switch key {
	case "properties":
		s.fields(path, a, b)
	case "required":
		s.required(path, a, b)
	case "items":
		s.schema(path+"[]", x, y)
	case "type", "enum", "const":
		if !s.equivalent(path+"."+key, x, y) {
			change := s.placed(path+"."+key, x, y)
			change.Old, change.New = brief(displayValue(x)), brief(displayValue(y))
			if change.Effect = s.narrows; !y.Exists() || key == "enum" && len(without(texts(x), texts(y))) == 0 && x.Exists() {
				change.Effect = "" // it accepts more than before
			}
			s.add(change)
		}
	default:
		s.walk(path+"."+key, x, y)
	}
}

// fields compares the properties of two objects.
func (s shape) fields(path string, a, b dsl.Value) {
	s.pairs(a.Get("properties"), b.Get("properties"), func(name string, x, y dsl.Entry) {
		at := path + "." + name
		switch {
		case !y.Value.Exists():
			gone := entry(at, x, y, property(x.Value, requires(a, name)))
			gone.Effect, gone.Note = Breaking, "callers that read it no longer find it"
			if s.narrows == Breaking && strings.HasPrefix(s.root, "parameters.") {
				gone.Note = "callers can no longer pass it"
			}
			s.add(gone)
		case !x.Value.Exists():
			s.add(entry(at, x, y, property(y.Value, requires(b, name))))
		default:
			s.schema(at, x.Value, y.Value)
		}
	})
}

// required reports properties in both schemas that became required or optional.
func (s shape) required(path string, a, b dsl.Value) {
	input := strings.HasPrefix(s.root, "parameters.")
	for _, e := range b.Get("properties").Entries() {
		was, is := requires(a, e.Key), requires(b, e.Key)
		if was == is || !a.Get("properties", e.Key).Exists() {
			continue
		}
		x := Change{Path: path + "." + e.Key, Kind: Changed, Old: needs(was), New: needs(is), At: placeOf(e.Place)}
		switch {
		case input && is:
			x.Effect, x.Note = Breaking, "callers must pass it"
		case !input && was:
			x.Effect, x.Note = Breaking, "callers may not find it in the answer"
		}
		s.add(x)
	}
}

func requires(object dsl.Value, name string) bool {
	for _, it := range object.Get("required").Items() {
		if it.Text() == name {
			return true
		}
	}
	return false
}

// property returns a short form of a schema: string, required.
func property(v dsl.Value, required bool) string {
	out := first(displayValue(v.Get("type")), "any type")
	if v.Get("enum").Exists() {
		out += " of " + brief(displayValue(v.Get("enum")))
	}
	if required {
		return out + ", required"
	}
	if d := v.Get("default"); d.Exists() {
		return out + ", " + brief(displayValue(d)) + " by default"
	}
	return out + ", optional"
}
