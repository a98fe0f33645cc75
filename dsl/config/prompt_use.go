package config

import "github.com/pexctl/pex/dsl/syntax"

// PromptUse is a use of a text as a template.
type PromptUse struct {
	Path       string       // of the key; "" for a prompt within another
	Value      *syntax.Node // has the text: of {use: NAME}, the value of the named prompt
	Use        string       // NAME of {use: NAME}; "" = its own text
	References []string     // names in the template, such as parameters.question
	BuiltIn    bool         // the key is not written
	Fixed      bool         // a fork cannot edit it
	Part       bool         // it is not a prompt: a prompt within another, or a schema
}

func (c *Decoder) addPrompt(p PromptUse) { c.Prompts = append(c.Prompts, p) }
