package dsl

import (
	"reflect"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// modelsOfTools lists the llms that tools may ask.
func modelsOfTools(tools []tool.Spec) (out []string) {
	for _, t := range tools {
		out = append(out, t.LLMs...)
	}
	return out
}

// modelsIn lists the llms that settings name, at whatever depth.
func modelsIn(v reflect.Value) (out []string) {
	switch {
	case v.Type() == config.ModelRefType:
		if ref := v.Interface().(component.ModelRef); ref.Name != "" {
			out = append(out, ref.Name)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return modelsIn(v.Elem())
	case v.Kind() == reflect.Struct && !config.IsReference(v.Type()):
		fields, _ := config.Fields([]reflect.Value{v})
		for _, f := range fields {
			out = append(out, modelsIn(f.Value)...)
		}
	}
	return out
}
