// Package logs writes the log of a server: which run or request a line is about, and nothing of
// its content.
//
//	request -> WithRequest -> Started -> slog.Logger of New -> the line, with run_id, tenant, trace_id, span_id
//	run     -> OfRun, Sink ----------------^
//
// Whatever the level, no line has a prompt, argument, result, header, query string or token,
// except that errors and warnings may quote them at level debug.
package logs
