package dsl

import "github.com/pexctl/pex/engine/tool"

// modelsOfTools lists the llms that tools may ask.
func modelsOfTools(tools []tool.Spec) (out []string) {
	for _, t := range tools {
		out = append(out, t.LLMs...)
	}
	return out
}
