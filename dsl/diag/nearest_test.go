package diag_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/diag"
)

func TestNearestFindsTheIntendedWord(t *testing.T) {
	cases := []struct {
		name       string
		word       string
		candidates []string
		want       string
	}{
		{"a letter more", "promptt", []string{"model", "prompt"}, "prompt"},
		{"a letter less", "promt", []string{"model", "prompt"}, "prompt"},
		{"another letter", "modal", []string{"model", "prompt"}, "model"},
		{"neighbours swapped", "mdoel", []string{"model", "prompt"}, "model"},
		{"the nearest beats the first", "stepz", []string{"stem", "steps"}, "steps"},
		{"the first of equally near ones", "bat", []string{"cat", "hat"}, "cat"},
		{"an exact word beats all before it", "cat", []string{"bat", "cat"}, "cat"},
		{"another case", "MaxSteps", []string{"model", "max_steps"}, "max_steps"},
		{"a hyphen for an underscore", "max-steps", []string{"max_steps"}, "max_steps"},
		{"a longer word may be further off", "reflecshun", []string{"reflection"}, "reflection"},
		{"a short word may not", "tool", []string{"pool_of"}, ""},
		{"two letters are too few to guess", "ab", []string{"abc", "ac"}, ""},
		{"two letters in another case are not", "ID", []string{"id"}, "id"},
		{"the beginning of one name only", "api_key", []string{"model", "api_key_env"}, "api_key_env"},
		{"the end of one name only", "parallel", []string{"max_parallel"}, "max_parallel"},
		{"the beginning of several", "api_key", []string{"api_key_env", "api_key_file"}, ""},
		{"a part of a word is none", "api", []string{"apiary_bee"}, ""},
		{"nothing near", "banana", []string{"model", "prompt"}, ""},
		{"no candidates", "model", nil, ""},
		{"no word", "", []string{"model"}, ""},
		{"a word too long to be one", strings.Repeat("a", 101), []string{strings.Repeat("a", 101)}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := diag.Nearest(c.word, c.candidates); got != c.want {
				t.Errorf("Nearest(%q, %q) is %q, want %q", c.word, c.candidates, got, c.want)
			}
		})
	}
}
