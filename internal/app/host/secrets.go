package host

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/catalog"
)

// ambientSecrets are variables that a provider or its transport reads besides
// its key.
var ambientSecrets = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
}

// proxies are variables with addresses that may hold a password.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}

// Secrets is the values that no cassette may hold: those of the environment
// variables that the program names, whatever they are: it is to be the same
// wherever it is made.
func Secrets(c *catalog.Catalog, p *engine.Program, env func(string) string) *secret.Values {
	return secret.New(variablesOf(c, p, env, func(string, string, bool) bool { return true }))
}

// Hidden is the values that no run may show or keep: those of the variables
// that the program names, but for such as are surely no secrets. An agent may
// have to speak of the region and the folder that it works in.
func Hidden(c *catalog.Catalog, p *engine.Program, env func(string) string) *secret.Values {
	return secret.New(variablesOf(c, p, env, func(name, value string, sure bool) bool {
		return sure || !secret.Plain(name, value)
	}))
}

// variablesOf is the values of the variables that a program names, and of those
// that providers read unasked, which take wants; sure says that it is used for
// nothing but secrets.
func variablesOf(c *catalog.Catalog, p *engine.Program, env func(string) string, take func(name, value string, sure bool) bool) map[string]string {
	values := map[string]string{}
	if env == nil {
		return values
	}
	see := func(name string, sure bool) {
		if value := env(name); name != "" && value != "" && take(name, value, sure) {
			values[name] = value
		}
	}
	for _, name := range slices.Concat(keyVariables(c), ambientSecrets) {
		see(name, true)
	}
	for _, name := range proxies {
		if !secret.Plain(name, env(name)) {
			see(name, false)
		}
	}
	var source any
	_ = json.Unmarshal(p.Source, &source) // the compiler wrote it
	VariablesIn(source, "", see)
	return values
}

// keyVariables are the variables in which the providers look for a key.
func keyVariables(c *catalog.Catalog) (names []string) {
	for _, f := range c.Models {
		names = append(names, model.KeyVariablesOf(f.Config()).Names...)
	}
	return names
}

// VariablesIn passes on the variables that a resolved spec names, of agents within
// the agent too: ${env.NAME} in either spelling, and keysOfNames. One under the
// name of a secret, such as a header Authorization, is surely used for one, but
// for a folder: GOOGLE_APPLICATION_CREDENTIALS is ${env.HOME}/file.json.
func VariablesIn(x any, under string, see func(name string, sure bool)) {
	switch x := x.(type) {
	case string:
		if slices.Contains(keysOfNames, under) {
			see(x, true)
		}
		for _, m := range environmentName().FindAllStringSubmatch(x, -1) {
			see(m[1], secret.Name(under) && m[2] != "/")
		}
	case []any:
		for _, each := range x {
			VariablesIn(each, under, see)
		}
	case map[string]any:
		for name, each := range x {
			VariablesIn(each, name, see)
		}
	}
}

// keysOfNames are keys under which the name of a variable with a secret stands.
var keysOfNames = []string{"api_key_env", "password_env", "token_env", "client_secret_env"}

// environmentName is where a template names a variable of the environment, and
// whether a slash follows.
var environmentName = text.Regexp(`\$[{<]\s*env\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:[}>](/))?`)

// Conceal is an error whose text holds no secret. It is of the same kind
// where there was none in it.
func Conceal(err error, values *secret.Values) error {
	if err == nil {
		return nil
	}
	clean, found := values.Text(err.Error())
	if !found {
		return err
	}
	return errors.New(clean)
}
