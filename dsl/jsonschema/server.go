package jsonschema

import (
	"strconv"

	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
)

// server returns the schema of files of kind: Server.
func (s *writer) server() *syntax.Node {
	k, entry := language.DefaultServer(), language.DefaultServedAgent()
	body, agent := s.structOf(&k), s.structOf(&entry)
	put(agent.Get("properties"), "set", overrides())
	for _, action := range language.Actions {
		identityName(agent.Get("properties").Get("roles").Get("properties").Get(action).Get("items"))
	}
	p := body.Get("properties")
	put(p, "agents", named(agent))
	for _, key := range []string{"auth", "tls"} { // null is not a section without keys
		p.Get(key).Set("type", syntax.Position{}, syntax.NewText("object"))
	}
	identityName(p.Get("tenants").Get("properties").Get("default"))
	identityName(p.Get("tenants").Get("properties").Get("known").Get("items"))
	p.Get("cors").Get("properties").Get("origins").Get("items").Set("pattern", syntax.Position{}, syntax.NewText(`^\*$|`+language.OriginPattern))
	return body
}

// tokens returns the schema of files of kind: Tokens.
func (s *writer) tokens() *syntax.Node {
	body := s.structOf(&language.TokensKeys{})
	token := body.Get("properties").Get("tokens").Get("items").Get("properties")
	restrict(token.Get("name"), nameOf(language.ClientName()))
	identityName(token.Get("tenant"))
	identityName(token.Get("roles").Get("items"))
	token.Get("sha256").Set("pattern", syntax.Position{}, syntax.NewText("^[0-9A-Fa-f]{"+strconv.Itoa(language.HashDigits)+"}$"))
	return body
}

// identityName restricts a schema to the names of tenants and roles.
func identityName(v *syntax.Node) {
	restrict(v, nameOf(language.IdentityName()))
}

// restrict adds the keywords of another schema.
func restrict(v, by *syntax.Node) {
	for _, e := range by.Entries {
		v.Set(e.Key, syntax.Position{}, e.Value)
	}
}

// serverPages document servers and their tokens.
func serverPages() []Page {
	server, agent := language.DefaultServer(), language.DefaultServedAgent()
	return []Page{
		section("server", "Server", "The keys of a server of agents (`kind: Server`), which `pexctl serve` starts. A size is a whole number with a unit: `512B`, `64KiB`, `1MiB` or `2GiB`.", table(&server),
			below("`agents.<name>`", "", &agent)),
		section("tokens", "Tokens", "The tokens of a server's clients (`kind: Tokens`). The file contains hashes; the tokens themselves are not stored.", table(&language.TokensKeys{})),
	}
}
