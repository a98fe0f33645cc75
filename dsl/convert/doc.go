// Package convert defines what the converters below it share: the files they read
// and write, and the notes about what they could not convert.
//
//	files of other tools --converter--> Result {files of a spec, notes}
//
// A converter adds a Note with a reason for every part of its input that the spec
// does not contain. The spec passes vet without warnings. A converter reads only
// its input, writes nothing, and copies no secret: the spec names an environment
// variable instead.
//
// The package must not know any command, provider or source format.
package convert
