// Package reply parses the replies of planners, reflectors, judges and executors in text
// mode.
//
//	text --read--> one value, repaired if malformed
//	     --find--> otherwise the values in prose, in fences, or after reasoning
//	     --shape--> steps, a result, or an error code
//
// Parse parses plans, JSON any JSON reply, React the actions of react_text. Fit returns
// the only value that matches a schema. It repairs more, because the schema decides
// between the possible readings:
//
//	text --document--> values, read once per path through the branches
//	     --fits--> the one reading that matches, or none
//
// The same text always has the same result. Valid JSON is never altered, a truncated plan
// is never accepted, and each repair is reported.
//
// The package must not depend on models, tools, schemas or the engine: text in, values
// out.
package reply
