package schema

// IsPlain reports whether the schema has common keywords only.
func (s *Schema) IsPlain() bool { return s.plain != nil }

// AcceptsPlainly reports whether Validate accepts a value without the library.
func (s *Schema) AcceptsPlainly(v any) bool {
	return (&scan{unique: s.audit.unique}).value(v, 0) == nil && s.plain.accepts(v)
}

// ValidateByLibrary is Validate without the shortcut.
func (s *Schema) ValidateByLibrary(v any) error {
	found := scan{unique: s.audit.unique}
	if err := found.value(v, 0); err != nil {
		return err
	}
	return s.validate(v, found)
}
