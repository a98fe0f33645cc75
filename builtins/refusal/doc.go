// Package refusal detects refusals by the wording of a model's text.
//
//	Is(text) = a phrase that is a refusal by itself ("I must decline", "no puedo ayudar"),
//	           or "I can't", "I won't", ... followed by an act of helping,
//	           or nothing but an apology; and no word that announces further work
//
// It is intended for models and servers without a stop reason for refusals. The phrases
// are English, with a few in Spanish, French, German, Portuguese and Italian. The package
// must not depend on runs, replies, or the consequences of a refusal.
package refusal
