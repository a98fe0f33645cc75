// Package protect determines which files of a project a model must not write,
// because a later run, a test, an evaluation or a command of the spec executes
// them or reads them as a program.
//
//	New(spec, options) -> Files   (reads nothing)
//	Files.Check(path, content)    (loads the spec on the first call)
//
// Protected files are: the files that the spec was compiled from, with its
// recordings; the tests beside it and everything in their folder; the suites
// beside it and their datasets; programs that its tools start, and the build
// files that these execute; every YAML file that pexctl would read as a spec,
// tests or a suite.
package protect
