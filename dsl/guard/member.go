package guard

// Member is a name that an expression may use at a place.
type Member struct {
	Name  string
	Type  string   // for humans: a whole number, a list, ...; of a function, its signature
	Doc   string   // a sentence; "" if none
	Words []string // all possible texts; nil for any
	Of    string   // what its texts or keys name: "tool"; "" for nothing
}
