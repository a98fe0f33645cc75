package runtime_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// coerceN accepts objects with a number n and coerces a string n. It also coerces the
// member fixed.
func coerceN(args json.RawMessage) (json.RawMessage, []tool.ArgsRepair, error) {
	var a map[string]json.RawMessage
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, nil, err
	}
	var out []tool.ArgsRepair
	for _, name := range []string{"fixed", "n"} {
		var s string
		if json.Unmarshal(a[name], &s) != nil {
			continue
		}
		out = append(out, tool.ArgsRepair{Path: "/" + name, Repair: "number given as a string", Written: a[name], Used: json.RawMessage(s)})
		a[name] = json.RawMessage(s)
	}
	fit, err := json.Marshal(a)
	return fit, out, err
}

// The record of a call lists the repairs of its arguments: redacted, shortened, and
// without fixed arguments.
func TestRepairsOfArgumentsAreRecorded(t *testing.T) {
	long := strings.Repeat("x", 2000)
	cases := []struct {
		name, args, answer string
		repairs            []tool.ArgsRepair
		warning            string
	}{
		{"fits", `{"n": 3}`, "approve", nil, ""},
		{
			"coerced", `{"n": "3"}`, "approve",
			[]tool.ArgsRepair{{Path: "/n", Repair: "number given as a string", Written: json.RawMessage(`"3"`), Used: json.RawMessage(`3`)}},
			"step s1: the arguments of gadget were coerced: /n: number given as a string",
		},
		{
			"fixed by the author", `{"n": 3}`, "approve", nil,
			"step s1: the arguments of gadget were coerced: /fixed: number given as a string",
		},
		{
			"a secret", `{"n": "4812345678901234567890"}`, "approve",
			[]tool.ArgsRepair{{Path: "/n", Repair: "number given as a string", Written: json.RawMessage(`"[redacted N_KEY]"`), Used: json.RawMessage(`"[redacted N_KEY]"`)}},
			"step s1: the arguments of gadget were coerced: /n: number given as a string",
		},
		{
			"not JSON", `n is 3`, "approve",
			[]tool.ArgsRepair{{Repair: "text dropped", Written: json.RawMessage(`"n is 3"`), Used: json.RawMessage(`{"n":3}`)}},
			"step s1: the arguments of gadget were repaired: text dropped",
		},
		{
			"not JSON, and coerced", `n is "3"`, "approve",
			[]tool.ArgsRepair{
				{Repair: "text dropped", Written: json.RawMessage(`"n is \"3\""`), Used: json.RawMessage(`{"n":"3"}`)},
				{Path: "/n", Repair: "number given as a string", Written: json.RawMessage(`"3"`), Used: json.RawMessage(`3`)},
			},
			"step s1: the arguments of gadget were repaired: text dropped, /n: number given as a string",
		},
		{
			"long", long + ` is 3`, "approve",
			[]tool.ArgsRepair{{Repair: "text dropped", Used: json.RawMessage(`{"n":3}`)}},
			"step s1: the arguments of gadget were repaired: text dropped",
		},
		{
			"edited by a person", `{"n": "3"}`, `edit:{"n": 4}`, nil,
			"step s1: the arguments of gadget were coerced: /n: number given as a string",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var rec tool.Record
			p, h := singleCallProgram(&recordingTool{}, c.args, &rec)
			h.Secrets = secret.New(map[string]string{"N_KEY": "4812345678901234567890"})
			h.Tools[0].Fit = coerceN
			if c.name == "fixed by the author" {
				h.Tools[0].Spec.With = []tool.Fixed{{Name: "fixed", Value: fixedText("1")}}
			}
			h.Repair = func(m engine.MalformedArguments) (json.RawMessage, []string, error) {
				_, n, found := strings.Cut(m.Text, " is ")
				if !found {
					return nil, nil, errors.New("no reading")
				}
				return json.RawMessage(`{"n":` + n + `}`), []string{"text dropped"}, nil
			}
			res := session(t, p, h, &journal.Memory{}, runtime.Options{Virtual: true, Answers: map[string]json.RawMessage{"tool.0.approval": encodeAnswer(t, c.answer)}})
			if res.Status != stop.RunCompleted || rec.Status != tool.CallOK {
				t.Fatal(res.StopReason, rec)
			}
			if c.name == "long" {
				if len(rec.Repairs) != 1 || len(rec.Repairs[0].Written) > 700 || !strings.Contains(string(rec.Repairs[0].Written), "bytes omitted") {
					t.Fatalf("%s", rec.Repairs)
				}
				rec.Repairs[0].Written = nil
			}
			if diff := cmp.Diff(c.repairs, rec.Repairs); diff != "" {
				t.Error(diff)
			}
			if c.warning != "" && (len(res.Warnings) == 0 || res.Warnings[0] != c.warning) {
				t.Errorf("%q", res.Warnings)
			}
		})
	}
}

func fixedText(text string) component.Value {
	v := component.Value{JSON: json.RawMessage(`"` + text + `"`)}
	v.Bind(func(component.Lookup) any { return text })
	return v
}
