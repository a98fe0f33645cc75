// Package table decodes rows and aggregates them exactly.
//
//	Decode(bytes, format) --> a JSON value: JSON unchanged, JSON Lines and CSV as a list of rows
//	Aggregate(rows, Summary) --> one row per group
//
// Numbers keep their digits (json.Number) and are added exactly, so 0.1 + 0.2 is 0.3.
// Groups are ordered by their keys, so the same rows produce the same bytes.
//
// The package must not depend on files, paths or tools.
package table
