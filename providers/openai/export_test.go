package openai

// NineCharacters is a tool call's id as Mistral takes it.
func NineCharacters(id string) string { return nineCharacters(id) }
