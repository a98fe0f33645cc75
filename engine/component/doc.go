// Package component describes everything a spec can name.
//
//	Config (what a user writes) --decoded by dsl--> Factory.Build(Config, Settings) --> the component
//
// A Config is a plain struct. Its fields carry the language in tags:
//
//	yaml:"max_steps"        the key; "-" hides a field; ",inline" takes all keys left over (a map)
//	doc:"..."               one sentence for the reference, the editor and --help; a Config without docs fails a test
//	required:"true"         the key must be there
//	required:"vet"          the key is required by vet; a run warns and takes the default
//	missing:"..."           the hint where a required key is missing; default: its doc
//	enum:"a|b"              allowed words
//	min:"1" max:"100"       bounds of a number, of a duration (min:"0s"), of a list's length
//	over:"0"                a number or a duration (over:"0s") is more than this
//	words:"never|always"    on a GuardRef: words that stand for themselves instead of an expression
//	file:"replies"          on a string: a file whose list, or whose keys, are put beside this field
//	path:"file"             on a string: a file, relative to the file that names it and within the project, that must be there
//	path:"relative"         on strings: paths that are relative to the file that names them
//	path:"program"          on a list: its first text is one where it begins with ./ or ../
//	numbers:"exact"         on an any: numbers are json.Number with the digits of the file; default: float64, or int where that would round
//	env:"call int, step string"   on a GuardRef: the names its expression may use ("@after_step": a place of DESIGN section 4)
//	vars:"args,parameters"  on a Template or PromptRef: the namespaces it may use; "@planner" adds the engine's own names of that template
//
// References (ModelRef, PromptRef, Template, SchemaRef, GuardRef, FilterRef)
// are resolved, checked and compiled by the dsl for every kind alike, so a
// component gets compiled conditions, prompts and paths without importing the
// libraries behind them.
//
// It must not know YAML, HTTP, any library, or the engine.
package component
