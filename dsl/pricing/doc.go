// Package pricing is what models cost: the table of well-known models that is built
// in, the price lists of users, and the prices that a run began with.
//
//	prices.yaml, a file of kind: Prices --Parse--> Table
//	engine.ModelSpec --ModelOf--> Model --Table.Of--> model.Cost and its origin
//	Table.Used --journal--> Recorded: a resumed run accounts as its first session did
//
// A Table also knows which models a vendor retires, and which it has.
//
// The package opens no file and knows no spec.
package pricing
