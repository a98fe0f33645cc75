// Package drift says in words how what a run asks for differs from what was
// recorded.
//
//	Requests(records)            every model request of a recording, decoded
//	Compare(recorded, now)       differences of two model requests: prompt, parameters, tools
//	CompareCall(recorded, now)   differences of two tool calls: tool, arguments
//	Nearest(requests, now)       the recorded request that is most like it
//	Part(records, others)        the first call in which two recordings differ
//
// Texts are compared whole, however they were cut into segments. What comes out
// is texts to be shown side by side, or as a unified diff; the package makes
// none, decides nothing, and does not know what a difference means for a run.
package drift
