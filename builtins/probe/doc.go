// Package probe tests what an LLM supports by calling it.
//
//	text    a reply of one word; if it fails, the other checks are skipped
//	stream  a streamed reply                 \
//	tools   a tool call, its result, a reply  } concurrently
//	schema  JSON that matches a schema       /
//	parallel tools, usage                    derived from these replies
//
// Run makes at most seven calls. If the price of the LLM is known, it makes no call whose worst case would bring the total
// above one cent. It checks the form of replies, not their quality. The package knows no providers, specs or runs.
package probe
