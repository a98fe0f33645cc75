// Package convert has what the converters below it share: the files they read
// and write, and the notes on what they could not convert.
//
//	files of other tools --converter--> Result {files of a spec, notes}
//
// A converter reports every part of its input that the spec does not contain as
// a Note with the reason. The spec vets clean. A converter reads only its input,
// writes nothing, and copies no secret: the spec names an environment variable
// instead.
//
// The package must not know any command, provider or source format.
package convert
