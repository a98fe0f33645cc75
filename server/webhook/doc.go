// Package webhook sends events of runs to HTTP receivers, in the form of Standard
// Webhooks (standardwebhooks.com): signed, at least once, in the order of the run.
//
//	manager -> Outbox.Attach: the run is in the ledger before its first event
//	session -> Attachment.Send -> stream: the messages of one run for one hook
//	stream -> sender -> receiver -> ledger: delivered up to this cursor
//	start -> Outbox.Recover: replays the journals of the runs in the ledger
//
// The ledger has one cursor per run and hook; the journals have the events. So a crash loses
// no event, and repeats at most the last one of each run, with the same id.
//
// A Dispatcher has the hooks and sends; each tenant has an Outbox. A run never waits for a
// receiver. A receiver that is slow or down costs a bounded number of connections and
// messages in memory; the other messages are read from the journals later.
//
// The package must not know how runs execute, or any flag.
package webhook
