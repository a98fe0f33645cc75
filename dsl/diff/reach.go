package diff

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine/text"
)

// reach compares what runs can access: programs and hosts of tools, endpoints
// that receive prompts, environment variables.
func (c *comparison) reach() {
	c.pairs(c.old.tree.Get("tools"), c.now.tree.Get("tools"), func(name string, a, b dsl.Entry) {
		c.lines("tools."+name, c.old.toolReach(name), c.now.toolReach(name), a, b)
	})
	llms := c.llmsBefore()
	c.pairs(llms.tree.Get("llms"), c.now.tree.Get("llms"), func(name string, a, b dsl.Entry) {
		c.lines("llms."+name, llms.modelReach(name), c.now.modelReach(name), a, b)
	})
	before, after := variables(llms.tree), variables(c.now.tree)
	for _, v := range after {
		if !slices.ContainsFunc(before, v.same) {
			c.add(Change{Path: "env." + v.name, Kind: Added, New: v.name, Effect: Looser, Note: "an environment variable that was not used before", At: placeOf(v.at)})
		}
	}
	for _, v := range before {
		if !slices.ContainsFunc(after, v.same) {
			c.add(Change{Path: "env." + v.name, Kind: Removed, Old: v.name, Effect: Safer, Note: "it is no longer used", OldAt: placeOf(v.at)})
		}
	}
}

// lines reports added and removed access.
func (c *comparison) lines(path string, before, after []string, a, b dsl.Entry) {
	come, gone := without(after, before), without(before, after)
	if len(come) == 1 && len(gone) == 1 {
		c.add(Change{Path: path, Kind: Changed, Old: gone[0], New: come[0], Effect: Looser, At: placeOf(b.Place)})
		return
	}
	for _, line := range come {
		c.add(Change{Path: path, Kind: Added, New: line, Effect: Looser, At: placeOf(b.Place)})
	}
	for _, line := range gone {
		x := Change{Path: path, Kind: Removed, Old: line, Effect: Safer, At: placeOf(b.Place)}
		if !b.Value.Exists() {
			x.OldAt = placeOf(a.Place)
		}
		c.add(x)
	}
}

func (s *side) toolReach(name string) []string {
	if t := s.tool(name); t != nil {
		return accessOf(t)
	}
	return nil
}

// modelReach returns the endpoints that receive prompts of an LLM. The model
// itself is compared by models.
func (s *side) modelReach(name string) []string {
	m := s.model(name)
	if m == nil || len(s.users(name)) == 0 {
		return nil
	}
	line := "sends prompts to " + m.Provider
	if m.BaseURL.Text != "" {
		line += " at " + m.BaseURL.Text
	}
	return []string{line}
}

// variable is a reference to an environment variable.
type variable struct {
	name string
	at   dsl.Place
}

func (v variable) same(w variable) bool { return v.name == w.name }

// keyNames are the keys whose values are names of environment variables.
var keyNames = []string{"api_key_env", "password_env", "token_env", "client_secret_env"}

var inTemplate = text.Regexp(`\$[{<]\s*env\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)`)

// variables returns the environment variables that a spec names, each with its
// first place.
func variables(tree dsl.Value) []variable {
	var out []variable
	add := func(name string, at dsl.Place) {
		if v := (variable{name, at}); name != "" && !slices.ContainsFunc(out, v.same) {
			out = append(out, v)
		}
	}
	for _, section := range slices.Concat([]string{"llms", "tools"}, language.Roles, []string{"graph", "memory"}) {
		each(tree.Get(section), section, func(path string, v dsl.Value) {
			if key := path[strings.LastIndexByte(path, '.')+1:]; slices.Contains(keyNames, key) {
				add(v.Text(), v.Place())
			}
			for _, m := range inTemplate().FindAllStringSubmatch(v.Text(), -1) {
				add(m[1], v.Place())
			}
		})
	}
	return out
}

// each calls f for every scalar of a value, except those of agents within.
func each(v dsl.Value, path string, f func(path string, v dsl.Value)) {
	switch {
	case called(v) != "":
	case v.IsMapping():
		for _, e := range v.Entries() {
			each(e.Value, path+"."+e.Key, f)
		}
	case v.IsList():
		for i, it := range v.Items() {
			each(it, path+"["+number(i)+"]", f)
		}
	case v.Exists():
		f(path, v)
	}
}
