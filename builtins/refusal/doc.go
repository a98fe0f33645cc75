// Package refusal tells by its words whether a model's text declines the task.
//
//	Is(text) = a phrase that refuses by itself ("I must decline", "no puedo ayudar"),
//	           or "I can't", "I won't", ... with an act of helping near by,
//	           or nothing but an apology; and no word of work that goes on
//
// It is for models and servers that have no stop reason of their own for it.
// The phrases are English, with a few of Spanish, French, German, Portuguese and
// Italian. It must not know runs, replies, or what a refusal leads to.
package refusal
