// Package component defines factories for everything a spec can name.
//
//	Config (what a user writes) --decoded by dsl--> Factory.Build(Config, Settings) --> the component
//
// A Config is a plain struct. The tags of its fields define the language:
//
//	yaml:"max_steps"        the key; "-" hides a field; ",inline" takes all remaining keys (a map)
//	doc:"..."               one sentence for the reference, the editor and --help; a test requires it
//	required:"true"         the key is required
//	required:"vet"          vet requires the key; a run warns and uses the default
//	missing:"..."           the hint if a required key is missing; default: its doc
//	enum:"a|b"              allowed values
//	min:"1" max:"100"       limits of a number, a duration (min:"0s") or a list's length
//	over:"0"                a number or duration (over:"0s") must be greater
//	words:"never|always"    on a GuardRef: words allowed instead of an expression
//	file:"replies"          on a string: a file whose list, or whose keys, are merged into this field
//	path:"file"             on a string: an existing file, relative to the file that names it and within the project
//	path:"relative"         on strings: paths relative to the file that names them
//	path:"program"          on a list: its first string is such a path if it starts with ./ or ../
//	numbers:"exact"         on an any: numbers are json.Number with the digits of the file; default: float64, or int if that would round
//	env:"call int, step string"   on a GuardRef: the variables of its expression ("@after_step": those of a guard place)
//	fork:"fixed"            on a PromptRef: a fork cannot edit it
//	vars:"args,parameters"  on a Template or PromptRef: its namespaces; "@planner" adds the engine's parameters of that template
//
// The dsl resolves, checks and compiles references (ModelRef, PromptRef, Template,
// SchemaRef, GuardRef, FilterRef) for all kinds, so components get compiled conditions,
// prompts and paths without importing the libraries for them.
//
// The package must not know YAML, HTTP, any library, or the engine.
package component
