// Package probe finds out what an llm can do, by asking it.
//
//	text    one word                    if none comes, nothing else is asked
//	stream  a few words, in pieces   \
//	tools   a call, its result, an answer  } side by side
//	schema  JSON of a schema         /
//	parallel tools, usage               told by the replies to these
//
// Ask makes seven calls at most, and where the llm has a price none whose worst
// case would take it past a cent. It judges what came, not how good it was: a
// reply that says little is no failure. It must not know providers, specs or
// runs.
package probe
