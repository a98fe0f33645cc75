// Package usage computes what runs cost, how long they took and how many failed, by agent and
// day or week.
//
//	[]runs.Summary --Compute--> []Point {start, agent, runs, failed, tokens, cost, p50, p95}
//
// It reads no journals. It must not know who may see a run.
package usage
