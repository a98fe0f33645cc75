package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/host"
)

func TestSecretsAreTheVariablesThatTheProgramNames(t *testing.T) {
	env := map[string]string{
		"A_KEY": "value-of-a-key", "B_TOKEN": "value-of-b-token", "C_TOKEN": "value-of-c-token",
		"OPENAI_API_KEY": "value-of-openai", "HOME": "/home/somebody",
	}
	source, err := json.Marshal(map[string]any{
		"llms":     map[string]any{"m": map[string]string{"api_key_env": "A_KEY"}},
		"executor": map[string]any{"agent": map[string]string{"url": "http://x/$<env.B_TOKEN>/${env.C_TOKEN:-none}"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &engine.Program{Source: source}
	secrets := host.Secrets(components(), p, func(name string) string { return env[name] })
	for name, value := range env {
		clean, found := secrets.Text("x " + value + " y")
		if want := name != "HOME"; found != want || want == strings.Contains(clean, value) {
			t.Errorf("%s: %q", name, clean)
		}
	}
}

// A run may show values that are certainly not secrets, but not variables used as
// secrets.
func TestVariablesUsedAsSecretsAreHidden(t *testing.T) {
	env := map[string]string{
		"HOME": "/home/somebody", "WHO": "Jane Smithers", "REGION": "eu-central-1", "WORDS": "correct-horse",
		"ODD": "x7f3a9c2b1d4", "PATH_LIKE": "/x7f3a9c2b1d4+abc", "USUAL": "/srv/usual",
	}
	source, err := json.Marshal(map[string]any{"tools": map[string]any{"a": map[string]any{"env": map[string]string{
		"GOOGLE_APPLICATION_CREDENTIALS": "${env.HOME}/gcp.json", "GIT_AUTHOR_NAME": "${env.WHO}", "R": "${env.REGION}",
		"PASSWORD": "${env.WORDS}", "AUTHORIZATION": "Bearer ${ env.PATH_LIKE }", "TOKEN_URL": "$<env.ODD>/x", "D": "${env.USUAL}",
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	secrets := host.Hidden(components(), &engine.Program{Source: source}, func(name string) string { return env[name] })
	for name, value := range env {
		_, found := secrets.Text("x " + value + " y")
		if want := name == "WORDS" || name == "ODD" || name == "PATH_LIKE"; found != want {
			t.Errorf("%s: hidden is %v", name, found)
		}
	}
}
