// Package starlark implements the code tool: it runs small programs in Starlark, a
// dialect of Python that can access only what it is given.
//
//	code{source, inputs} --request--> Serve, this program as a child process (internal/process)
//	  --parse, run with limits on steps and memory--> reply {result, printed, variables | error}
//	  --> the result as JSON and the printed text; variables are stored on success
//
// Starlark has no clock, random numbers, network or files of its own. A program has its
// inputs, the modules json and math, files below a root (read_file, list_files) and the
// variables of the conversation.
//
// It runs in a child process because only that enforces limits: one operation ([0] * 1000000000, or str of lists that
// share their elements) can use all memory, or minutes, without counting a step. The child checks its own heap and
// exits when it exceeds the limit. It is killed when the call's context ends. Two gaps remain. Between two checks of
// the heap, 2 ms apart, a program can use some tens of MB beyond the limit. If a run is killed between a change of
// variables and its record, the resumed run repeats the program; programs should therefore set variables from inputs
// rather than increment them.
//
// The package must not know specs, plans, or its callers.
package starlark
