// Package reply reads what a planner, a reflector, a judge or a text-mode
// executor answers.
//
//	text --read--> one value, repaired where models slip
//	     --find--> else the values that stand in prose, fences, after reasoning
//	     --shape--> steps, or a result, or the code of what is wrong
//
// Parse reads plans, JSON any JSON reply, React the actions of react_text. Fit
// reads the only value that fits a schema, and may repair more, since the schema
// decides between the readings:
//
//	text --document--> values, read once per way through the branches
//	     --fits--> the one reading that fits, or none
//
// The same text always gives the same outcome; valid JSON is never altered, a
// cut plan is never accepted, and each repair is named.
//
// It must not know models, tools, schemas or the engine: text in, values out.
package reply
