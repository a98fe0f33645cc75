// Package processtest inspects a child process from within: what it inherited, and whether all of that was
// declared.
//
//	TestMain: processtest.Main()    (the test binary, run as a child, prints a Given and exits)
//	Plant --> canaries in the environment and open files of this process
//	the code under test starts processtest.Program() with Variable=1 --> its output
//	Read(output) --> Given.Check(what was declared) --> violations
//
// It must not know who starts the child: tools, checks, tool servers.
package processtest
