package failpoint

// Point names a point in a run.
type Point string

// The points, in the order in which a run passes them.
const (
	RunCreated Point = "run-created" // its journal exists and is locked, nothing is written

	IntentBefore Point = "intent-before" // an effect was requested, nothing is recorded
	IntentAfter  Point = "intent-after"  // its intent is in the tick
	EffectBefore Point = "effect-before" // about to be performed
	EffectAfter  Point = "effect-after"  // performed, its outcome is not known yet
	ResultBefore Point = "result-before" // its outcome reached the scheduler
	ResultAfter  Point = "result-after"  // its result is in the tick

	CommitBefore  Point = "commit-before"  // a tick is about to be written
	CommitHalf    Point = "commit-half"    // half of it is written
	CommitWritten Point = "commit-written" // all of it is written, not synced
	CommitSynced  Point = "commit-synced"  // synced, not reported
	CommitMarked  Point = "commit-marked"  // the index has the new extent
	EmitBefore    Point = "emit-before"    // durable, its events are not sent
	EmitAfter     Point = "emit-after"     // its events are sent

	SuspendMarked Point = "suspend-marked" // a signal came; effects in flight may finish
	SuspendHeld   Point = "suspend-held"   // their outcomes are journaled

	MemoryOpened   Point = "memory-opened"   // the memory store is open
	MemoryBefore   Point = "memory-before"   // a write to it is planned
	MemoryWritten  Point = "memory-written"  // it is written, not counted
	MemoryAfter    Point = "memory-after"    // it is counted
	InboxImported  Point = "inbox-imported"  // the memory's inbox is imported, not emptied
	InboxCleared   Point = "inbox-cleared"   // its extent is reset
	InboxHalf      Point = "inbox-half"      // half a line is written to it
	InboxWritten   Point = "inbox-written"   // all of the line is written, not synced
	InboxAfter     Point = "inbox-after"     // it is synced and counted
	MemoryClosing  Point = "memory-closing"  // about to be closed
	MemoryClosed   Point = "memory-closed"   // closed, still locked
	EndAppended    Point = "end-appended"    // the run's last record is in the tick
	EndDurable     Point = "end-durable"     // it is durable, the result is not reported
	CloseBefore    Point = "close-before"    // the journal is about to be closed
	HeadWritten    Point = "head-written"    // the last head of the session is written
	CloseAfter     Point = "close-after"     // the run was unlocked
	RecoverRead    Point = "recover-read"    // a resumed journal was read
	RecoverCut     Point = "recover-cut"     // its torn last line was removed
	RecoverRedo    Point = "recover-redo"    // an open effect will be performed again
	RecoverDecided Point = "recover-decided" // a decision about a write in doubt is in the tick
)

// Points lists all points in that order.
var Points = []Point{
	RunCreated,
	IntentBefore, IntentAfter, EffectBefore, EffectAfter, ResultBefore, ResultAfter,
	CommitBefore, CommitHalf, CommitWritten, CommitSynced, CommitMarked, EmitBefore, EmitAfter,
	SuspendMarked, SuspendHeld,
	MemoryOpened, MemoryBefore, MemoryWritten, MemoryAfter,
	InboxImported, InboxCleared, InboxHalf, InboxWritten, InboxAfter,
	MemoryClosing, MemoryClosed,
	EndAppended, EndDurable, CloseBefore, HeadWritten, CloseAfter,
	RecoverRead, RecoverCut, RecoverRedo, RecoverDecided,
}
