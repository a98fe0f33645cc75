package dsl

// prompts reads the named texts. They are compiled where they are used, with
// the names that exist there.
func (c *compiler) prompts() {
	v := c.section("prompts", c.doc.Prompts)
	c.doc.Prompts = v
	for _, e := range v.entries {
		if !c.usable(e, "a prompt") {
			continue
		}
		switch key, name := pointer(e.val); key {
		case "file":
			c.inlineText(e.val, name)
		case "use":
			c.wrongType(e.val, "prompts."+e.key, "text or {file: path}").Hint = "use the name " + name + " itself where the prompt is expected"
		default:
			c.asPrompt(e.val, "prompts."+e.key)
		}
	}
}
