// Package attribute has the search attributes by which Temporal finds runs.
//
//	Keys --> Check(namespace)  --> nil, or a *MissingError with the command that creates them
//	     \-> Create(namespace) --> the missing ones exist
//
// Attributes are stored unencrypted, so none has content of a run: names, states and sums only.
package attribute
