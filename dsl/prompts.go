package dsl

import "github.com/pexctl/pex/dsl/config"

// prompts reads the named prompts. They are compiled where they are used, with
// the names that exist there.
func (c *compiler) prompts() {
	v := c.Section("prompts", c.doc.Prompts)
	c.doc.Prompts = v
	for _, e := range v.Entries {
		if !c.CheckName(e, "a prompt") {
			continue
		}
		switch key, name := config.Pointer(e.Value); key {
		case "file":
			c.InlineFile(e.Value, name)
		case "use":
			c.WrongType(e.Value, "prompts."+e.Key, "a string or {file: PATH}").Hint = "use the name " + name + " directly where the prompt is expected"
		default:
			c.AsPrompt(e.Value, "prompts."+e.Key)
		}
	}
}
