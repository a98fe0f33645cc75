package convert

// Input is a file that is to be converted.
type Input struct {
	Name string // as its reader calls it; notes and errors say it
	Text []byte
	// Agent says that it is an agent that the first one calls, as its executor:
	// the id by which it does so, or "*" where the file says it or it is the only
	// one. "" = it is none.
	Agent string
	// As is what the new spec is to be called; "" = as the source calls it.
	As string
	// Found says that the file was found in a project folder, so that it need not
	// be one of the project's.
	Found bool
}

// MaxFile is how large a file may be: registration bodies are a few kilobytes.
const MaxFile = 4 << 20
