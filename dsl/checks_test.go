package dsl_test

import (
	"github.com/pexctl/pex/engine/component"
)

// The kinds of checks of these tests, like real ones.

type exprConfig struct {
	That component.GuardRef `yaml:"that" required:"true" env:"@checks" doc:"The condition."`
}

type containsConfig struct {
	Value      component.Template   `yaml:"value" vars:"case,parameters" doc:"The text."`
	Any        []component.Template `yaml:"any" vars:"case,parameters" doc:"One of these."`
	IgnoreCase bool                 `yaml:"ignore_case" doc:"Whatever the case."`
}

type equalsConfig struct {
	Value component.Value `yaml:"value" required:"true" vars:"case,parameters" doc:"The value."`
}

type jsonSchemaConfig struct {
	Schema component.SchemaRef `yaml:"schema" required:"true" doc:"The schema."`
}

type jsonPathConfig struct {
	Path component.FilterRef `yaml:"path" required:"true" doc:"Where."`
	Min  *float64            `yaml:"min" doc:"At least."`
}

type rubricConfig struct {
	Criteria component.PromptRef `yaml:"criteria" vars:"case,parameters" doc:"By what."`
	Min      float64             `yaml:"min" min:"0" max:"1" doc:"The least score."`
}

type trajectoryConfig struct {
	Match     string   `yaml:"match" enum:"exact|in_order|any_order|subset|superset" doc:"How."`
	Tools     []any    `yaml:"tools" doc:"The calls."`
	Args      string   `yaml:"args" enum:"exact|partial|ignore" doc:"Their arguments."`
	Forbidden []string `yaml:"forbidden" doc:"Never these."`
	MaxSteps  int      `yaml:"max_steps" min:"1" doc:"At most."`
}

func kind[C any](typ string, defaults C) component.Blueprint {
	return component.Blueprint{
		Info:   component.Info{Kind: "check", Type: typ, Doc: "A check " + typ + ".", Stability: component.Stable},
		Config: func() any { c := defaults; return &c },
	}
}

var checks = component.Blueprints{
	kind("equals", equalsConfig{}), kind("contains", containsConfig{}), kind("json_schema", jsonSchemaConfig{}),
	kind("json_path", jsonPathConfig{}), kind("rubric", rubricConfig{Min: 0.5}),
	kind("trajectory", trajectoryConfig{Match: "in_order", Args: "partial"}), kind("expr", exprConfig{}),
}
