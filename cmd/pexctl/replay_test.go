package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
)

func TestSecretsAreThoseTheProgramNames(t *testing.T) {
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
	secrets := secretsOf(p, engine.Host{Env: func(name string) string { return env[name] }})
	for name, value := range env {
		clean, found := secrets.Text("x " + value + " y")
		if want := name != "HOME"; found != want || want == strings.Contains(clean, value) {
			t.Errorf("%s: %q", name, clean)
		}
	}
}
