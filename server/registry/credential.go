package registry

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// The values that stand for a credential which is not there, as in examples of requests.
var placeholder = text.Regexp(`(?i)^(<.*>|your[_ -].*|\{\{.*\}\}|\$\{env\.[a-z0-9_]+\}|)$`)

// check returns an error if a body has credentials, or refers to something of the server.
func check(body Body) error {
	if err := checkCredentials(body); err != nil {
		return err
	}
	return checkReferences(body)
}

// checkCredentials returns an error if a body has credentials, which the server does not store.
func checkCredentials(body Body) error {
	path, name := credential(body, "", "", false)
	switch {
	case path == "":
		return nil
	case !strings.Contains(path, "credential"):
		return invalid("%s looks like a secret: this server does not store credentials; write ${credential.NAME} instead, and NAME with a placeholder under credential", path)
	}
	return invalid("%s: this server does not store credentials; set the environment variable %s of the server, and send a placeholder, such as \"<%s>\"",
		path, variableOf(body, name), variableOf(body, name))
}

// credential returns the path and the name of the first credential in a value, or "".
func credential(v any, path, name string, within bool) (string, string) {
	switch v := v.(type) {
	case Body:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if p, n := credential(v[key], join(path, key), key, within || key == "credential"); p != "" {
				return p, n
			}
		}
	case []any:
		for i, each := range v {
			if p, n := credential(each, path+"["+strconv.Itoa(i)+"]", name, within); p != "" {
				return p, n
			}
		}
	case string:
		isPublic := slices.Contains([]string{"roleArn", "region", "service_name"}, name)
		if within && !isPublic && !placeholder().MatchString(strings.TrimSpace(v)) || secret.InLiteral(v, name).Kind != "" {
			return path, name
		}
	}
	return "", ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// usual are the variables that providers read for their own addresses, by a part of the address.
var usual = []struct{ host, variable string }{
	{"api.openai.com", "OPENAI_API_KEY"},
	{"api.anthropic.com", "ANTHROPIC_API_KEY"},
	{"generativelanguage.googleapis.com", "GEMINI_API_KEY"},
	{".openai.azure.com", "AZURE_OPENAI_API_KEY"},
}

var camel = text.Regexp(`([a-z])([A-Z])`)

// variableOf returns the environment variable that replaces a credential of a connector.
func variableOf(body Body, name string) string {
	address := addresses(body)
	for _, u := range usual {
		if strings.Contains(address, u.host) {
			return u.variable
		}
	}
	switch name {
	case "openAI_key":
		return "OPENAI_KEY"
	case "access_key", "secret_key", "session_token":
		return map[string]string{"access_key": "AWS_ACCESS_KEY_ID", "secret_key": "AWS_SECRET_ACCESS_KEY", "session_token": "AWS_SESSION_TOKEN"}[name]
	}
	return strings.ToUpper(camel().ReplaceAllString(name, "${1}_$2"))
}

// addresses returns the URLs of a connector, and what fills them.
func addresses(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case Body:
		for key, each := range v {
			if s, ok := each.(string); ok && (key == "url" || key == "endpoint") {
				b.WriteString(s + " ")
			}
			b.WriteString(addresses(each))
		}
	case []any:
		for _, each := range v {
			b.WriteString(addresses(each))
		}
	}
	return b.String()
}

var foreignReference = text.Regexp(`\$[{<]\s*(env|file|case|args)\b`)

// checkReferences returns an error if a text of a body refers to something of the server.
// Credentials may name the variable that replaces them.
func checkReferences(v any) error {
	switch v := v.(type) {
	case Body:
		for name, each := range v {
			if err := checkReferences(each); err != nil && name != "credential" {
				return err
			}
		}
	case []any:
		for _, each := range v {
			if err := checkReferences(each); err != nil {
				return err
			}
		}
	case string:
		if found := foreignReference().FindString(v); found != "" {
			return invalid("%s...: bodies can refer to ${parameters.NAME} and ${credential.NAME} only", found)
		}
	}
	return nil
}
