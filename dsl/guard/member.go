package guard

// Member is a name that an expression may write at a place.
type Member struct {
	Name  string
	Type  string   // for people: a whole number, a list, ...; of a function how it is called
	Doc   string   // a sentence; "" = there is none
	Words []string // all that a text may be; nil = anything
	Of    string   // what its texts, or its keys, are names of: "tool"; "" = of nothing
}
