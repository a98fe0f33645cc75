// Package process runs a child process and contains it.
//
//	Command --Run----> Result {stdout, stderr, exit}
//	        --Start--> Child  {stdin, stdout}, which runs until Close
//
// The child gets only the given arguments and environment, and its own process group.
// When the context ends, the group receives SIGTERM and is then killed; when the child
// exits, the rest of its group is killed too. Output is read to the end and kept up to a
// limit: its head and tail.
//
// This is containment, not a sandbox: a child has the rights of its user, and one that
// leaves its group deliberately is found only on Linux and only if it kept its
// environment.
//
// The package must not know tools, templates, or shells.
package process
