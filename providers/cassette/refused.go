package cassette

import (
	"fmt"
	"strings"
)

// Finding is a place of a recording that would show a secret. It does not hold
// the secret.
type Finding struct {
	Line  uint64 // of the journal, and of the cassette
	Path  string // effect path; "" where it would show the secret itself
	Looks string // what stands there: "a GitHub token"
	Name  string // or the secret whose value stands where it cannot be replaced
}

func (f Finding) String() string {
	where := fmt.Sprintf("line %d", f.Line)
	if f.Path != "" {
		where += " (" + f.Path + ")"
	}
	if f.Name != "" {
		return fmt.Sprintf("%s holds the value of %s where it cannot be replaced", where, f.Name)
	}
	return fmt.Sprintf("%s holds what looks like %s", where, f.Looks)
}

// Refused says that no cassette was written, because it would have shown secrets.
type Refused struct{ Findings []Finding }

// shown is how many findings a message names.
const shown = 5

// Error names the places and the ways out.
func (r *Refused) Error() string {
	var b strings.Builder
	b.WriteString("no cassette was written: ")
	for i, f := range r.Findings[:min(len(r.Findings), shown)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.String())
	}
	if more := len(r.Findings) - shown; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	b.WriteString("; put the value into an environment variable that the spec names, so that it is replaced, or keep it out of the run")
	return b.String()
}
