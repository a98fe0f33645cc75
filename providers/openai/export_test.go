package openai

// NineCharacters returns a tool call id that Mistral accepts.
func NineCharacters(id string) string { return nineCharacters(id) }
