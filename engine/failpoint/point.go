package failpoint

// Point names a moment in the life of a run.
type Point string

// The points, in the order in which a run comes to them.
const (
	RunCreated Point = "run-created" // its folder is there and locked, nothing is written

	IntentBefore Point = "intent-before" // an effect was asked for, nothing says so
	IntentAfter  Point = "intent-after"  // its intent stands in the tick
	EffectBefore Point = "effect-before" // about to be performed
	EffectAfter  Point = "effect-after"  // performed, its outcome is known to nobody
	ResultBefore Point = "result-before" // its outcome reached the scheduler
	ResultAfter  Point = "result-after"  // its result stands in the tick

	CommitBefore  Point = "commit-before"  // a tick is about to be written
	CommitHalf    Point = "commit-half"    // half of it is written
	CommitWritten Point = "commit-written" // all of it, not synced
	CommitSynced  Point = "commit-synced"  // synced, nobody was told
	CommitMarked  Point = "commit-marked"  // and the run's lock file says how far the journal goes
	EmitBefore    Point = "emit-before"    // durable, its events are not told
	EmitAfter     Point = "emit-after"     // they are

	SuspendMarked Point = "suspend-marked" // a signal came, what is under way may end
	SuspendHeld   Point = "suspend-held"   // its outcomes are journaled

	MemoryOpened   Point = "memory-opened"   // the memory store is open
	MemoryBefore   Point = "memory-before"   // a write to it is planned
	MemoryWritten  Point = "memory-written"  // it is made, nobody counted it
	MemoryAfter    Point = "memory-after"    // it is counted
	MemoryClosing  Point = "memory-closing"  // about to be closed
	MemoryClosed   Point = "memory-closed"   // closed, its lock is held
	EndAppended    Point = "end-appended"    // the run's last record stands in the tick
	EndDurable     Point = "end-durable"     // it is durable, the result is not told
	CloseBefore    Point = "close-before"    // the journal is about to be closed
	HeadWritten    Point = "head-written"    // the new head lies beside its place
	HeadReplaced   Point = "head-replaced"   // it is in its place
	CloseAfter     Point = "close-after"     // the run was given back
	RecoverRead    Point = "recover-read"    // a resumed journal was read
	RecoverCut     Point = "recover-cut"     // its torn last line was cut off
	RecoverRedo    Point = "recover-redo"    // an open effect is to be performed again
	RecoverDecided Point = "recover-decided" // a decision about a write in doubt stands in the tick
)

// Points are all points, in the order in which a run comes to them.
var Points = []Point{
	RunCreated,
	IntentBefore, IntentAfter, EffectBefore, EffectAfter, ResultBefore, ResultAfter,
	CommitBefore, CommitHalf, CommitWritten, CommitSynced, CommitMarked, EmitBefore, EmitAfter,
	SuspendMarked, SuspendHeld,
	MemoryOpened, MemoryBefore, MemoryWritten, MemoryAfter, MemoryClosing, MemoryClosed,
	EndAppended, EndDurable, CloseBefore, HeadWritten, HeadReplaced, CloseAfter,
	RecoverRead, RecoverCut, RecoverRedo, RecoverDecided,
}
