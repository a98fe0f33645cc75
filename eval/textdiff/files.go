package textdiff

// Files returns a unified diff of two texts with their names as its header, or "" if the
// texts are equal.
func Files(nameA, a, nameB, b string) string {
	diff := Compare(a, b).Unified(0)
	if diff == "" {
		return ""
	}
	return "--- " + nameA + "\n+++ " + nameB + "\n" + diff
}
