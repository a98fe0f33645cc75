package evalcmd

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/host"
)

// secrets returns the values of the environment variables that the specs and the
// suite name.
func (s *suite) secrets(components *catalog.Catalog) []*secret.Values {
	var all []*secret.Values
	for i := range s.variants {
		all = append(all, host.Secrets(components, s.variants[i].Program, os.Getenv))
	}
	values := map[string]string{}
	for _, path := range s.Files {
		text, _ := os.ReadFile(path) // already read once
		for _, m := range variableName().FindAllSubmatch(text, -1) {
			name := string(m[1]) + string(m[2])
			values[name] = os.Getenv(name)
		}
	}
	return append(all, secret.New(values))
}

// earlierSecrets also includes those of the programs that an evaluation ran.
func (s *suite) earlierSecrets(components *catalog.Catalog, dir string, m report.Manifest) []*secret.Values {
	all := s.secrets(components)
	for _, v := range m.Variants {
		source, _ := batch.ProgramSource(dir, v.Spec.Digest) // missing after eval score
		all = append(all, host.Secrets(components, &engine.Program{Source: source}, os.Getenv))
	}
	return all
}

// variableName matches a reference of a suite to an environment variable.
var variableName = text.Regexp(`\$[{<]env\.([A-Za-z_][A-Za-z0-9_]*)|(?:api_key|password|token)_env["']?\s*:\s*["']?([A-Za-z_][A-Za-z0-9_]*)`)

// mask removes secrets from rows, so that no report contains one.
func mask(all []*secret.Values) batch.Mask {
	return func(row *trial.Row, encoded []byte) (changed bool) {
		for _, v := range all {
			masked, found := maskJSON(encoded, v)
			if found {
				encoded, changed = masked, true
			}
		}
		var clean trial.Row
		if !changed || json.Unmarshal(encoded, &clean) != nil {
			return false
		}
		clean.Run.StopReason.Status = row.Run.StopReason.Status
		*row = clean
		return true
	}
}

// maskJSON masks all parts of a row.
func maskJSON(encoded []byte, v *secret.Values) (masked []byte, found bool) {
	masked, found = v.JSON(encoded)
	if !found || json.Unmarshal(masked, &trial.Row{}) == nil {
		return masked, found
	}
	// A secret of digits occurs in a number, which is not a secret.
	masked, err := json.Marshal(inTexts(encoded, v))
	return masked, err == nil && json.Unmarshal(masked, &trial.Row{}) == nil
}

// inTexts returns JSON with the secrets in its texts masked.
func inTexts(b []byte, v *secret.Values) any {
	var all any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	_ = d.Decode(&all) // encoded above
	return masked(all, v)
}

func masked(x any, v *secret.Values) any {
	switch x := x.(type) {
	case string:
		text, _ := v.Text(x)
		return text
	case []any:
		for i := range x {
			x[i] = masked(x[i], v)
		}
	case map[string]any:
		for name := range x {
			x[name] = masked(x[name], v)
		}
	}
	return x
}
