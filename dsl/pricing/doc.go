// Package pricing determines what models cost: from the built-in table of
// well-known models, the price lists of users, and the prices with which a run
// started.
//
//	prices.yaml, a file of kind: Prices --Parse--> Table
//	engine.ModelSpec --ModelOf--> Model --Table.PriceOf--> model.Cost and its origin
//	Table.Used --journal--> Recorded: a resumed run accounts like its first session
//
// A Table also knows which models a vendor has, and which it retires.
//
// The package opens no file and knows no spec.
package pricing
