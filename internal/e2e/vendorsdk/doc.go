// Package vendorsdk compares the requests of the providers openai and anthropic with those
// of the vendors' Go SDKs, as JSON, and what both read from the same replies.
//
//	model.Request --provider--> body
//	             --SDK params, SDK--> body
//
// It is a module of its own, so that the SDKs are no dependencies of pex. Run it with
// make sdk.
package vendorsdk
