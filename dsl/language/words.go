package language

import (
	"github.com/pexctl/pex/engine/text"
)

// Roles.
const (
	Planner   = "planner"
	Executor  = "executor"
	Reflector = "reflector"
	Finalizer = "finalizer"
)

// Roles are in the order in which they inherit LLM defaults.
var Roles = []string{Planner, Executor, Reflector, Finalizer}

// Question is the parameter that every agent has.
const Question = "question"

// SchemaWords are the keywords that the schema of a parameter may use.
var SchemaWords = []string{
	"type", "description", "title", "default", "required", "enum", "const", "examples", "format", "pattern",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "properties", "patternProperties",
	"additionalProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired",
	"anyOf", "allOf", "oneOf", "not", "if", "then", "else", "$ref", "$defs", "$comment", "deprecated",
	"contentEncoding", "contentMediaType", "readOnly", "writeOnly",
}

// ParameterPattern matches the name of a parameter. Dots are allowed, as in
// OpenSearch's prompt.prefix; such a name takes precedence over a path with the
// same spelling.
var ParameterPattern = text.Regexp(`^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

// LibraryKeys are the sections that a Library shares.
var LibraryKeys = []string{"llms", "tools", "prompts"}

// FileKeys are the keys of a file that an agent within it cannot have.
var FileKeys = []string{"apiVersion", "kind", "include", "extends", "agents", "tests", "evals"}

// EnvName matches the name of an environment variable.
var EnvName = text.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// MaxCaseName is the maximum length of the name of a case, in characters.
const MaxCaseName = 200

// Types of checks that the language itself defines.
const (
	ExprCheck       = "expr"
	TrajectoryCheck = "trajectory"
)
