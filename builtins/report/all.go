package report

// All is every format of this folder, in the order in which catalogues show them.
func All() Formats {
	return Formats{Table, JSON, JSONL, CSV, Markdown, JUnit, HTML, GitHub}
}
