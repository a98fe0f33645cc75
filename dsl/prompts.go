package dsl

// prompts reads the named texts. They are compiled where they are used, with
// the names that exist there.
func (c *compiler) prompts() {
	v := c.section("prompts", c.doc.Prompts)
	c.doc.Prompts = v
	for _, e := range v.Entries {
		if !c.usable(e, "a prompt") {
			continue
		}
		switch key, name := pointer(e.Value); key {
		case "file":
			c.inlineText(e.Value, name)
		case "use":
			c.wrongType(e.Value, "prompts."+e.Key, "text or {file: path}").Hint = "use the name " + name + " itself where the prompt is expected"
		default:
			c.asPrompt(e.Value, "prompts."+e.Key)
		}
	}
}
