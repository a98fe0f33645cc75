// Package drift describes how the requests of a run differ from recorded ones.
//
//	Requests(records)               every model request of a recording, decoded
//	Compare(recorded, now)          differences of two model requests: prompt, parameters, tools
//	CompareCall(recorded, now)      differences of two tool calls: tool, arguments
//	Nearest(requests, now)          the most similar recorded request
//	FirstDivergence(first, second)  the first call in which two recordings differ
//
// Texts are compared as a whole, independent of segments. The results are texts to show
// side by side or as a unified diff, which the package does not produce. It does not know
// what a difference means for a run.
package drift
