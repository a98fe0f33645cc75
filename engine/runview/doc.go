// Package runview builds the view of one run for a page: its numbers, graph, timeline,
// calls with prompts and replies, and human decisions.
//
//	Collector (a Sink)  <-- events of a run, replayed from its journal
//	New(Source{Result, Events, Records, Drawing}) --> *View --> HTML, JSON
//
// It derives everything from the result, the events and the journal of a run. It
// must not know how a View is drawn.
package runview
