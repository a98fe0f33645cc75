// Package table reads rows and summarises them exactly.
//
//	Decode(bytes, format) --> a JSON value: JSON as it is, lines and CSV as a list of rows
//	Aggregate(rows, Summary) --> one row a group
//
// Numbers keep their digits (json.Number) and are added as fractions, so that
// 0.1 + 0.2 is 0.3; groups come in the order of their keys, so that the same
// rows give the same bytes.
//
// It must not know files, paths or tools.
package table
