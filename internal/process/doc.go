// Package process runs one child process and contains it.
//
//	Command --Run----> Result {stdout, stderr, how it ended}
//	        --Start--> Child  {stdin, stdout}, which goes on until Close
//
// The child gets the arguments and the environment it is given and nothing
// else, and a process group of its own. When the context ends, the group is
// asked to stop (SIGTERM) and then killed; when the child ends, what it left
// running in its group is killed too. Output is read to the end, however much
// it is, and kept up to a bound: the head and the tail.
//
// This is containment, not a sandbox: a child has the rights of its user, and
// one that leaves its group in purpose is found only on Linux and only when it
// kept its environment.
//
// It must not know tools, templates, or shells.
package process
