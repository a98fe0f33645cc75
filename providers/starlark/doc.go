// Package starlark is the tool code: a small program in Starlark, a dialect of
// Python that can do nothing it is not handed.
//
//	code{source, inputs} --request--> Serve, this program once more as a child (internal/process)
//	  --parse, run, watched in steps and memory--> reply {result, printed, variables | error}
//	  --> the result as JSON, what was printed; variables are kept when all went well
//
// Starlark has no clock, chance, network or files of its own. What a program
// sees is its inputs, the modules json and math, files below a root (read_file,
// list_files) and the variables of the conversation.
//
// It runs in a child process because that is the only bound that holds: one
// operation ([0] * 1000000000, or str of lists that share their parts) can take
// all memory, or minutes, without a step being counted. The child watches its
// own heap and ends itself; it is killed when the call's context ends. What is
// left open: between two looks at the heap, 2 ms apart, some tens of MB beyond
// the bound can be touched. And a program that reads a variable and sets it to
// something made of it does so again when a run that was killed between the
// change and its record is resumed: set what inputs say, not a count.
//
// It must not know specs, plans, or who asks.
package starlark
