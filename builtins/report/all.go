package report

// All returns every format of this package, in the order of the reference.
func All() Formats {
	return Formats{Table, JSON, JSONL, CSV, Markdown, JUnit, HTML, GitHub}
}
