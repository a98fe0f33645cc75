package convert

// Input is a file that is to be converted.
type Input struct {
	Name string // as its reader calls it; notes and errors say it
	Text []byte
	// As is what the new spec is to be called; "" = as the source calls it.
	As string
}

// most is how large a file may be: registration bodies are a few kilobytes.
const most = 4 << 20
