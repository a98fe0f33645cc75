package language

import "regexp"

// The roles.
const (
	Planner   = "planner"
	Executor  = "executor"
	Reflector = "reflector"
	Finalizer = "finalizer"
)

// Roles are in the order in which their llm defaults are taken over.
var Roles = []string{Planner, Executor, Reflector, Finalizer}

// Question is the parameter that is always there.
const Question = "question"

// SchemaWords are the keys a parameter may have; others would do nothing.
var SchemaWords = []string{
	"type", "description", "title", "default", "required", "enum", "const", "examples", "format", "pattern",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "properties", "patternProperties",
	"additionalProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired",
	"anyOf", "allOf", "oneOf", "not", "if", "then", "else", "$ref", "$defs", "$comment", "deprecated",
	"contentEncoding", "contentMediaType", "readOnly", "writeOnly",
}

// ParameterPattern is what a parameter may be called: dots too, as in OpenSearch's
// prompt.prefix. Such a name goes before a path of the same spelling.
var ParameterPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

// LibraryKeys are what a Library shares.
var LibraryKeys = []string{"llms", "tools", "prompts"}

// FileKeys are the keys that a file has and an agent within it has not.
var FileKeys = []string{"apiVersion", "kind", "include", "extends", "agents", "tests", "evals"}

// EnvName is what the name of an environment variable matches.
var EnvName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// MaxCaseName bounds the name of a case, in characters.
const MaxCaseName = 200

// The types of checks that the language itself knows.
const (
	ExprCheck       = "expr"
	TrajectoryCheck = "trajectory"
)
