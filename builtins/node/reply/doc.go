// Package reply reads what a planner, a reflector, a judge or a text-mode
// executor answers.
//
//	text --read--> one value, mended where models slip
//	     --find--> else the values that stand in prose, fences, after reasoning
//	     --shape--> steps, or a result, or the code of what is wrong
//
// Parse reads plans, JSON any JSON reply, React the actions of react_text. The
// same text always gives the same outcome; valid JSON is never altered, a cut
// reply is never accepted, and whatever was mended is named.
//
// It must not know models, tools, schemas or the engine: text in, values out.
package reply
