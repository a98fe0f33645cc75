// Package orderedjson parses and writes JSON objects keeping the order of their members:
// models write replies in the order of a schema's properties.
//
//	{"b": 1, "a": 2} --Of--> Object --JSON--> {"b":1,"a":2}
//
// It knows nothing of schemas.
package orderedjson
