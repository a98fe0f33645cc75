// Package members reads and writes JSON objects whose members keep their order:
// models write their replies in the order of a schema's properties.
//
//	{"b": 1, "a": 2} --Of--> Object --JSON--> {"b":1,"a":2}
//
// It knows nothing of schemas.
package members
